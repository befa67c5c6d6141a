# As infra/domain.yaml: a domain of your own, mapped as a whole, if domain_name is given.

locals {
  has_domain        = var.domain_name != ""
  makes_certificate = var.certificate_arn == ""
  has_zone          = var.hosted_zone_id != ""
}

resource "aws_acm_certificate" "domain" {
  count = local.has_domain && local.makes_certificate ? 1 : 0

  domain_name       = var.domain_name
  validation_method = "DNS"

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_route53_record" "validation" {
  count = local.has_domain && local.makes_certificate ? 1 : 0

  zone_id         = var.hosted_zone_id
  name            = tolist(aws_acm_certificate.domain[0].domain_validation_options)[0].resource_record_name
  type            = tolist(aws_acm_certificate.domain[0].domain_validation_options)[0].resource_record_type
  records         = [tolist(aws_acm_certificate.domain[0].domain_validation_options)[0].resource_record_value]
  ttl             = 300
  allow_overwrite = true
}

resource "aws_acm_certificate_validation" "domain" {
  count = local.has_domain && local.makes_certificate ? 1 : 0

  certificate_arn         = aws_acm_certificate.domain[0].arn
  validation_record_fqdns = [aws_route53_record.validation[0].fqdn]
}

resource "aws_apigatewayv2_domain_name" "domain" {
  count = local.has_domain ? 1 : 0

  domain_name = var.domain_name

  domain_name_configuration {
    certificate_arn = local.makes_certificate ? aws_acm_certificate_validation.domain[0].certificate_arn : var.certificate_arn
    endpoint_type   = "REGIONAL"
    security_policy = "TLS_1_2"
  }
}

# Without a key, so that OAuth clients find /.well-known/ at the root.
resource "aws_apigatewayv2_api_mapping" "domain" {
  count = local.has_domain ? 1 : 0

  domain_name = aws_apigatewayv2_domain_name.domain[0].domain_name
  api_id      = aws_apigatewayv2_api.stile.id
  stage       = "$default"

  depends_on = [aws_apigatewayv2_stage.default]
}

resource "aws_route53_record" "domain" {
  count = local.has_domain && local.has_zone ? 1 : 0

  zone_id = var.hosted_zone_id
  name    = var.domain_name
  type    = "A"

  alias {
    name                   = aws_apigatewayv2_domain_name.domain[0].domain_name_configuration[0].target_domain_name
    zone_id                = aws_apigatewayv2_domain_name.domain[0].domain_name_configuration[0].hosted_zone_id
    evaluate_target_health = false
  }
}
