output "api_url" {
  description = "Where the function answers. GET /health below it says whether it can serve."
  value       = "https://${aws_apigatewayv2_api.stile.id}.execute-api.${data.aws_region.current.id}.${data.aws_partition.current.dns_suffix}"
}

output "mcp_url_pattern" {
  description = "What an MCP client connects to, with the endpoint's folder and name put in."
  value       = "https://${aws_apigatewayv2_api.stile.id}.execute-api.${data.aws_region.current.id}.${data.aws_partition.current.dns_suffix}/{folder}/{name}/mcp"
}

output "api_id" {
  description = "The API's id, for `trust_authorizer`."
  value       = aws_apigatewayv2_api.stile.id
}

output "bundle_location" {
  description = "What `stile publish` takes as its target."
  value       = "s3://${local.bucket_name}/${var.bundle_prefix}"
}

output "bundle_format" {
  description = "The format of bundles that the function reads."
  value       = local.bundle_format
}

output "function_name" {
  description = "The function's name, for its metrics."
  value       = aws_lambda_function.stile.function_name
}

output "function_arn" {
  description = "What another front door invokes."
  value       = aws_lambda_function.stile.arn
}

output "log_group" {
  description = "Where the function writes its log."
  value       = aws_cloudwatch_log_group.function.name
}

output "role_arn" {
  description = "The function's role, for policies elsewhere that let it in."
  value       = aws_iam_role.function.arn
}

output "dashboard_url" {
  description = "The dashboard."
  value       = "https://${data.aws_region.current.id}.console.aws.amazon.com/cloudwatch/home?region=${data.aws_region.current.id}#dashboards:name=${aws_cloudwatch_dashboard.stile.dashboard_name}"
}

output "topic_arn" {
  description = "The topic that gets alarms, or null."
  value       = local.notifies ? local.topic : null
}

output "url" {
  description = "Where clients reach the API at a domain of your own, or null."
  value       = local.has_domain ? "https://${var.domain_name}" : null
}

output "target" {
  description = "What a record of the host elsewhere points to (CNAME), or null."
  value       = local.has_domain ? aws_apigatewayv2_domain_name.domain[0].domain_name_configuration[0].target_domain_name : null
}
