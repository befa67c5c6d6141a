# As template.yaml, which gives the reasons. One function behind an HTTP API serves every endpoint that `stile publish`
# has put into the bucket.

locals {
  makes_log_key           = var.log_key_arn == ""
  makes_state_key         = var.state_key_arn == ""
  closes_default_endpoint = var.default_endpoint == "off"
  uses_vpc                = length(var.subnet_ids) != 0
  reserves_concurrency    = var.reserved_concurrency != ""
  traces                  = var.tracing == "Active"
}

resource "aws_lambda_function" "stile" {
  function_name                  = var.name
  description                    = "Serves MCP tools for the GraphQL APIs in the bundle bucket."
  filename                       = var.zip
  source_code_hash               = filebase64sha256(var.zip)
  handler                        = "handler.lambda_function.handler"
  runtime                        = "python3.13"
  architectures                  = [var.architecture]
  memory_size                    = var.memory_size
  timeout                        = 29
  reserved_concurrent_executions = local.reserves_concurrency ? var.reserved_concurrency : null
  kms_key_arn                    = local.has_kms_key ? var.kms_key_arn : null
  role                           = aws_iam_role.function.arn

  dynamic "vpc_config" {
    for_each = local.uses_vpc ? [1] : []

    content {
      subnet_ids         = var.subnet_ids
      security_group_ids = var.security_group_ids
    }
  }

  tracing_config {
    mode = var.tracing
  }

  logging_config {
    log_format = "Text"
    log_group  = aws_cloudwatch_log_group.function.name
  }

  environment {
    variables = {
      STILE_BUNDLES               = "s3://${local.bucket_name}/${var.bundle_prefix}"
      STILE_PRELOAD               = var.preload
      STILE_CATALOG               = var.catalog
      STILE_REFRESH_S             = var.refresh_seconds
      STILE_MAX_STALE_S           = var.max_stale_seconds
      STILE_CACHE_MB              = var.cache_megabytes
      STILE_CODE_MODULES          = var.code_modules
      STILE_PUBLIC_URL            = var.public_url
      STILE_ALLOWED_ORIGINS       = var.allowed_origins
      STILE_PAGE                  = var.page
      STILE_UPSTREAM_HOSTS        = var.upstream_hosts
      STILE_ALLOW_LOCAL_UPSTREAMS = "false"
      STILE_SECRETS               = var.secrets_prefix
      STILE_SECRET_ARNS           = var.secret_arns
      STILE_ENV_SECRETS           = var.env_secrets
      STILE_LOG_KEY               = local.makes_log_key ? aws_secretsmanager_secret.log_key[0].arn : var.log_key_arn
      STILE_LOG_SUBJECT           = var.log_subject
      STILE_STATE_KEY             = local.makes_state_key ? aws_secretsmanager_secret.state_key[0].arn : var.state_key_arn
      STILE_METRICS               = var.metrics
      POWERTOOLS_LOG_LEVEL        = var.log_level
      POWERTOOLS_SERVICE_NAME     = "stile"
    }
  }

  # Lambda refuses a function in a VPC until its role may join it.
  depends_on = [aws_iam_role_policy.network]
}

resource "aws_cloudwatch_log_group" "function" {
  name              = "/aws/lambda/${var.name}"
  retention_in_days = var.log_retention_days
  kms_key_id        = local.has_kms_key ? var.kms_key_arn : null
  skip_destroy      = true
}

resource "aws_apigatewayv2_api" "stile" {
  name                         = var.name
  description                  = "Every path goes to the Stile function, which knows the endpoints."
  protocol_type                = "HTTP"
  disable_execute_api_endpoint = local.closes_default_endpoint ? true : false
}

resource "aws_apigatewayv2_integration" "function" {
  api_id                 = aws_apigatewayv2_api.stile.id
  integration_type       = "AWS_PROXY"
  integration_method     = "POST"
  integration_uri        = aws_lambda_function.stile.invoke_arn
  payload_format_version = "2.0"
}

resource "aws_apigatewayv2_route" "any" {
  api_id    = aws_apigatewayv2_api.stile.id
  route_key = "$default"
  target    = "integrations/${aws_apigatewayv2_integration.function.id}"
}

resource "aws_apigatewayv2_stage" "default" {
  api_id      = aws_apigatewayv2_api.stile.id
  name        = "$default"
  auto_deploy = true

  default_route_settings {
    throttling_rate_limit  = var.throttle_rate
    throttling_burst_limit = var.throttle_burst
  }

  access_log_settings {
    destination_arn = "arn:${data.aws_partition.current.partition}:logs:${data.aws_region.current.id}:${data.aws_caller_identity.current.account_id}:log-group:${aws_cloudwatch_log_group.access.name}"
    format          = jsonencode(local.access_log)
  }
}

locals {
  # Without the query string and headers: a GET on .../graphql has its document and variables in the former.
  access_log = {
    time              = "$context.requestTimeEpoch"
    requestId         = "$context.requestId"
    ip                = "$context.identity.sourceIp"
    method            = "$context.httpMethod"
    path              = "$context.path"
    status            = "$context.status"
    bytes             = "$context.responseLength"
    durationMs        = "$context.responseLatency"
    functionMs        = "$context.integrationLatency"
    functionRequestId = "$context.awsEndpointRequestId"
    error             = "$context.integrationErrorMessage"
  }
}

resource "aws_cloudwatch_log_group" "access" {
  name              = "/aws/vendedlogs/apigateway/${var.name}"
  retention_in_days = var.log_retention_days
  kms_key_id        = local.has_kms_key ? var.kms_key_arn : null
  skip_destroy      = true
}

resource "aws_cloudwatch_log_metric_filter" "gateway_throttles" {
  name           = "${var.name}-gateway-throttles"
  log_group_name = aws_cloudwatch_log_group.access.name
  pattern        = "{ $.status = \"429\" }"

  metric_transformation {
    namespace = "Stile/${aws_apigatewayv2_api.stile.id}"
    name      = "gateway_throttles"
    value     = "1"
    unit      = "Count"
  }
}

resource "aws_lambda_permission" "any_request" {
  action        = "lambda:InvokeFunction"
  function_name = aws_lambda_function.stile.function_name
  principal     = "apigateway.amazonaws.com"
  source_arn    = "arn:${data.aws_partition.current.partition}:execute-api:${data.aws_region.current.id}:${data.aws_caller_identity.current.account_id}:${aws_apigatewayv2_api.stile.id}/*/*"
}

# The values of both keys are in Secrets Manager alone: neither a plan nor the state has them.
ephemeral "aws_secretsmanager_random_password" "log_key" {
  count = local.makes_log_key ? 1 : 0

  password_length     = 48
  exclude_punctuation = true
}

ephemeral "aws_secretsmanager_random_password" "state_key" {
  count = local.makes_state_key ? 1 : 0

  password_length     = 48
  exclude_punctuation = true
}

resource "aws_secretsmanager_secret" "log_key" {
  count = local.makes_log_key ? 1 : 0

  name_prefix = "${var.name}-log-key-"
  description = "With what the log of ${var.name} digests who called."
  kms_key_id  = local.has_kms_key ? var.kms_key_arn : null
  # So long the callers of the log can still be recognized.
  recovery_window_in_days = 30
}

resource "aws_secretsmanager_secret_version" "log_key" {
  count = local.makes_log_key ? 1 : 0

  secret_id                = aws_secretsmanager_secret.log_key[0].id
  secret_string_wo         = ephemeral.aws_secretsmanager_random_password.log_key[0].random_password
  secret_string_wo_version = 1
}

resource "aws_secretsmanager_secret" "state_key" {
  count = local.makes_state_key ? 1 : 0

  name_prefix             = "${var.name}-state-key-"
  description             = "With what ${var.name} seals what a tool asks its user."
  kms_key_id              = local.has_kms_key ? var.kms_key_arn : null
  recovery_window_in_days = 0
}

resource "aws_secretsmanager_secret_version" "state_key" {
  count = local.makes_state_key ? 1 : 0

  secret_id                = aws_secretsmanager_secret.state_key[0].id
  secret_string_wo         = ephemeral.aws_secretsmanager_random_password.state_key[0].random_password
  secret_string_wo_version = 1
}
