# As infra/observability.yaml, which gives the reason of each alarm.

locals {
  makes_topic             = var.email != ""
  has_topic               = var.topic_arn != ""
  has_metrics_by_endpoint = var.metrics == "endpoint" || var.metrics == "on"
  notifies                = local.makes_topic || local.has_topic

  topic  = local.makes_topic ? aws_sns_topic.alarms[0].arn : var.topic_arn
  topics = local.makes_topic ? [aws_sns_topic.alarms[0].arn] : local.has_topic ? [var.topic_arn] : null
}

resource "aws_sns_topic" "alarms" {
  count = local.makes_topic ? 1 : 0

  name_prefix  = "${var.name}-alarms-"
  display_name = "Stile"
}

resource "aws_sns_topic_subscription" "alarms" {
  count = local.makes_topic ? 1 : 0

  topic_arn = aws_sns_topic.alarms[0].arn
  protocol  = "email"
  endpoint  = var.email
}

resource "aws_cloudwatch_metric_alarm" "function_errors" {
  alarm_name          = "${var.name}-function-errors"
  alarm_description   = "Invocations of the function failed. ${var.runbook}#alarm-errors"
  namespace           = "AWS/Lambda"
  metric_name         = "Errors"
  dimensions          = { FunctionName = aws_lambda_function.stile.function_name }
  statistic           = "Sum"
  period              = 300
  evaluation_periods  = 1
  threshold           = var.errors_in_five_minutes
  comparison_operator = "GreaterThanThreshold"
  treat_missing_data  = "notBreaching"
  alarm_actions       = local.topics
  ok_actions          = local.topics
}

resource "aws_cloudwatch_metric_alarm" "request_errors" {
  alarm_name          = "${var.name}-request-errors"
  alarm_description   = "Requests failed inside the function. ${var.runbook}#alarm-errors"
  namespace           = "Stile"
  metric_name         = "errors"
  dimensions          = { function = aws_lambda_function.stile.function_name }
  statistic           = "Sum"
  period              = 300
  evaluation_periods  = 1
  threshold           = var.errors_in_five_minutes
  comparison_operator = "GreaterThanThreshold"
  treat_missing_data  = "notBreaching"
  alarm_actions       = local.topics
  ok_actions          = local.topics
}

resource "aws_cloudwatch_metric_alarm" "throttles" {
  alarm_name          = "${var.name}-throttles"
  alarm_description   = "Lambda throttled the function. ${var.runbook}#alarm-throttles"
  namespace           = "AWS/Lambda"
  metric_name         = "Throttles"
  dimensions          = { FunctionName = aws_lambda_function.stile.function_name }
  statistic           = "Sum"
  period              = 300
  evaluation_periods  = 1
  threshold           = var.throttles_in_five_minutes
  comparison_operator = "GreaterThanThreshold"
  treat_missing_data  = "notBreaching"
  alarm_actions       = local.topics
  ok_actions          = local.topics
}

resource "aws_cloudwatch_metric_alarm" "duration" {
  alarm_name                            = "${var.name}-duration"
  alarm_description                     = "The slowest hundredth of calls takes too long. ${var.runbook}#alarm-duration"
  namespace                             = "Stile"
  metric_name                           = "duration_ms"
  dimensions                            = { function = aws_lambda_function.stile.function_name }
  extended_statistic                    = "p99"
  period                                = 300
  evaluation_periods                    = 3
  evaluate_low_sample_count_percentiles = "evaluate"
  threshold                             = var.duration_ms
  comparison_operator                   = "GreaterThanThreshold"
  treat_missing_data                    = "notBreaching"
  alarm_actions                         = local.topics
  ok_actions                            = local.topics
}

resource "aws_cloudwatch_metric_alarm" "upstream_failures" {
  alarm_name          = "${var.name}-upstream-failures"
  alarm_description   = "APIs failed or refused the function. ${var.runbook}#alarm-upstream-failures"
  evaluation_periods  = 1
  threshold           = var.failure_share
  comparison_operator = "GreaterThanThreshold"
  treat_missing_data  = "notBreaching"
  alarm_actions       = local.topics
  ok_actions          = local.topics

  metric_query {
    id = "failures"

    metric {
      namespace   = "Stile"
      metric_name = "upstream_failures"
      dimensions  = { function = aws_lambda_function.stile.function_name }
      period      = 300
      stat        = "Sum"
    }
  }

  metric_query {
    id = "calls"

    metric {
      namespace   = "Stile"
      metric_name = "calls_run"
      dimensions  = { function = aws_lambda_function.stile.function_name }
      period      = 300
      stat        = "Sum"
    }
  }

  metric_query {
    id          = "share"
    expression  = "IF(FILL(failures, 0) > ${var.upstream_failures_in_five_minutes}, 100 * failures / FILL(calls, 1), 0)"
    label       = "percent"
    return_data = true
  }
}

resource "aws_cloudwatch_metric_alarm" "rare_upstream_failures" {
  alarm_name          = "${var.name}-rare-upstream-failures"
  alarm_description   = "APIs failed or refused the function, in six hours. ${var.runbook}#alarm-upstream-failures"
  evaluation_periods  = 1
  threshold           = var.failure_share
  comparison_operator = "GreaterThanThreshold"
  treat_missing_data  = "notBreaching"
  alarm_actions       = local.topics
  ok_actions          = local.topics

  metric_query {
    id = "failures"

    metric {
      namespace   = "Stile"
      metric_name = "upstream_failures"
      dimensions  = { function = aws_lambda_function.stile.function_name }
      period      = 21600
      stat        = "Sum"
    }
  }

  metric_query {
    id = "calls"

    metric {
      namespace   = "Stile"
      metric_name = "calls_run"
      dimensions  = { function = aws_lambda_function.stile.function_name }
      period      = 21600
      stat        = "Sum"
    }
  }

  metric_query {
    id          = "share"
    expression  = "IF(FILL(failures, 0) > ${var.upstream_failures_in_five_minutes}, 100 * failures / FILL(calls, 1), 0)"
    label       = "percent"
    return_data = true
  }
}

resource "aws_cloudwatch_metric_alarm" "api_errors" {
  alarm_name          = "${var.name}-api-errors"
  alarm_description   = "APIs answered with errors alone. ${var.runbook}#alarm-api-errors"
  evaluation_periods  = 1
  threshold           = var.api_error_share
  comparison_operator = "GreaterThanThreshold"
  treat_missing_data  = "notBreaching"
  alarm_actions       = local.topics
  ok_actions          = local.topics

  metric_query {
    id = "failures"

    metric {
      namespace   = "Stile"
      metric_name = "api_errors"
      dimensions  = { function = aws_lambda_function.stile.function_name }
      period      = 300
      stat        = "Sum"
    }
  }

  metric_query {
    id = "calls"

    metric {
      namespace   = "Stile"
      metric_name = "calls_run"
      dimensions  = { function = aws_lambda_function.stile.function_name }
      period      = 300
      stat        = "Sum"
    }
  }

  metric_query {
    id          = "share"
    expression  = "IF(FILL(failures, 0) > ${var.upstream_failures_in_five_minutes}, 100 * failures / FILL(calls, 1), 0)"
    label       = "percent"
    return_data = true
  }
}

resource "aws_cloudwatch_metric_alarm" "rare_api_errors" {
  alarm_name          = "${var.name}-rare-api-errors"
  alarm_description   = "APIs answered with errors alone, in six hours. ${var.runbook}#alarm-api-errors"
  evaluation_periods  = 1
  threshold           = var.api_error_share
  comparison_operator = "GreaterThanThreshold"
  treat_missing_data  = "notBreaching"
  alarm_actions       = local.topics
  ok_actions          = local.topics

  metric_query {
    id = "failures"

    metric {
      namespace   = "Stile"
      metric_name = "api_errors"
      dimensions  = { function = aws_lambda_function.stile.function_name }
      period      = 21600
      stat        = "Sum"
    }
  }

  metric_query {
    id = "calls"

    metric {
      namespace   = "Stile"
      metric_name = "calls_run"
      dimensions  = { function = aws_lambda_function.stile.function_name }
      period      = 21600
      stat        = "Sum"
    }
  }

  metric_query {
    id          = "share"
    expression  = "IF(FILL(failures, 0) > ${var.upstream_failures_in_five_minutes}, 100 * failures / FILL(calls, 1), 0)"
    label       = "percent"
    return_data = true
  }
}

resource "aws_cloudwatch_metric_alarm" "upstream_limits" {
  alarm_name          = "${var.name}-upstream-limits"
  alarm_description   = "APIs limited the function. ${var.runbook}#alarm-upstream-limits"
  evaluation_periods  = 1
  threshold           = var.api_error_share
  comparison_operator = "GreaterThanThreshold"
  treat_missing_data  = "notBreaching"
  alarm_actions       = local.topics
  ok_actions          = local.topics

  metric_query {
    id = "failures"

    metric {
      namespace   = "Stile"
      metric_name = "upstream_limits"
      dimensions  = { function = aws_lambda_function.stile.function_name }
      period      = 300
      stat        = "Sum"
    }
  }

  metric_query {
    id = "calls"

    metric {
      namespace   = "Stile"
      metric_name = "calls_run"
      dimensions  = { function = aws_lambda_function.stile.function_name }
      period      = 300
      stat        = "Sum"
    }
  }

  metric_query {
    id          = "share"
    expression  = "IF(FILL(failures, 0) > ${var.upstream_failures_in_five_minutes}, 100 * failures / FILL(calls, 1), 0)"
    label       = "percent"
    return_data = true
  }
}

resource "aws_cloudwatch_metric_alarm" "schema_drift" {
  alarm_name          = "${var.name}-schema-drift"
  alarm_description   = "APIs have another schema than the published one. ${var.runbook}#alarm-schema-drift"
  namespace           = "Stile"
  metric_name         = "schema_drift"
  dimensions          = { function = aws_lambda_function.stile.function_name }
  statistic           = "Sum"
  period              = 3600
  evaluation_periods  = 1
  threshold           = var.drift_in_an_hour
  comparison_operator = "GreaterThanThreshold"
  treat_missing_data  = "notBreaching"
  alarm_actions       = local.topics
  ok_actions          = local.topics
}

resource "aws_cloudwatch_metric_alarm" "endpoint_down" {
  count               = local.has_metrics_by_endpoint ? 1 : 0
  alarm_name          = "${var.name}-endpoint-down"
  alarm_description   = "Calls of an endpoint fail in a row. ${var.runbook}#alarm-upstream-failures"
  evaluation_periods  = 1
  threshold           = 0
  comparison_operator = "GreaterThanThreshold"
  treat_missing_data  = "notBreaching"
  alarm_actions       = local.topics
  ok_actions          = local.topics

  metric_query {
    id          = "down"
    expression  = "SELECT MAX(endpoint_down) FROM SCHEMA(\"Stile\", \"function\", \"endpoint\") WHERE \"function\" = '${aws_lambda_function.stile.function_name}' GROUP BY \"endpoint\" ORDER BY MAX() DESC"
    period      = 300
    return_data = true
  }
}

resource "aws_cloudwatch_metric_alarm" "callers_refused" {
  alarm_name          = "${var.name}-callers-refused"
  alarm_description   = "Callers were refused. ${var.runbook}#alarm-callers-refused"
  evaluation_periods  = 1
  threshold           = var.callers_refused_share
  comparison_operator = "GreaterThanThreshold"
  treat_missing_data  = "notBreaching"
  alarm_actions       = local.topics
  ok_actions          = local.topics

  metric_query {
    id = "failures"

    metric {
      namespace   = "Stile"
      metric_name = "callers_refused"
      dimensions  = { function = aws_lambda_function.stile.function_name }
      period      = 300
      stat        = "Sum"
    }
  }

  metric_query {
    id = "invocations"

    metric {
      namespace   = "AWS/Lambda"
      metric_name = "Invocations"
      dimensions  = { FunctionName = aws_lambda_function.stile.function_name }
      period      = 300
      stat        = "Sum"
    }
  }

  metric_query {
    id          = "share"
    expression  = "IF(FILL(failures, 0) > ${var.callers_refused_in_five_minutes}, 100 * failures / invocations, 0)"
    label       = "percent"
    return_data = true
  }
}

resource "aws_cloudwatch_metric_alarm" "gateway_throttles" {
  alarm_name          = "${var.name}-gateway-throttles"
  alarm_description   = "API Gateway throttled callers. ${var.runbook}#alarm-gateway"
  evaluation_periods  = 1
  threshold           = var.failure_share
  comparison_operator = "GreaterThanThreshold"
  treat_missing_data  = "notBreaching"
  alarm_actions       = local.topics
  ok_actions          = local.topics

  metric_query {
    id = "failures"

    metric {
      namespace   = "Stile/${aws_apigatewayv2_api.stile.id}"
      metric_name = "gateway_throttles"
      period      = 300
      stat        = "Sum"
    }
  }

  metric_query {
    id = "requests"

    metric {
      namespace   = "AWS/ApiGateway"
      metric_name = "Count"
      dimensions  = { ApiId = aws_apigatewayv2_api.stile.id }
      period      = 300
      stat        = "Sum"
    }
  }

  metric_query {
    id          = "share"
    expression  = "IF(FILL(failures, 0) > ${var.upstream_failures_in_five_minutes}, 100 * failures / requests, 0)"
    label       = "percent"
    return_data = true
  }
}

resource "aws_cloudwatch_metric_alarm" "gateway_errors" {
  alarm_name          = "${var.name}-gateway-errors"
  alarm_description   = "Callers got 5xx. ${var.runbook}#alarm-gateway"
  evaluation_periods  = 1
  threshold           = var.failure_share
  comparison_operator = "GreaterThanThreshold"
  treat_missing_data  = "notBreaching"
  alarm_actions       = local.topics
  ok_actions          = local.topics

  metric_query {
    id = "failures"

    metric {
      namespace   = "AWS/ApiGateway"
      metric_name = "5xx"
      dimensions  = { ApiId = aws_apigatewayv2_api.stile.id }
      period      = 300
      stat        = "Sum"
    }
  }

  metric_query {
    id = "requests"

    metric {
      namespace   = "AWS/ApiGateway"
      metric_name = "Count"
      dimensions  = { ApiId = aws_apigatewayv2_api.stile.id }
      period      = 300
      stat        = "Sum"
    }
  }

  metric_query {
    id          = "share"
    expression  = "IF(FILL(failures, 0) > ${var.upstream_failures_in_five_minutes}, 100 * failures / requests, 0)"
    label       = "percent"
    return_data = true
  }
}

resource "aws_cloudwatch_metric_alarm" "concurrency" {
  alarm_name          = "${var.name}-concurrency"
  alarm_description   = "The functions of the account use most of its concurrency. ${var.runbook}#alarm-concurrency"
  namespace           = "AWS/Lambda"
  metric_name         = "ConcurrentExecutions"
  statistic           = "Maximum"
  period              = 60
  evaluation_periods  = 5
  datapoints_to_alarm = 3
  threshold           = var.concurrent_executions
  comparison_operator = "GreaterThanThreshold"
  treat_missing_data  = "notBreaching"
  alarm_actions       = local.topics
  ok_actions          = local.topics
}

resource "aws_cloudwatch_metric_alarm" "bundle_age" {
  alarm_name          = "${var.name}-bundle-age"
  alarm_description   = "An endpoint was not compared with the bucket for long. ${var.runbook}#alarm-bundle-age"
  namespace           = "Stile"
  metric_name         = "bundle_age_s"
  dimensions          = { function = aws_lambda_function.stile.function_name }
  statistic           = "Maximum"
  period              = 300
  evaluation_periods  = 2
  threshold           = var.bundle_age_seconds
  comparison_operator = "GreaterThanThreshold"
  treat_missing_data  = "notBreaching"
  alarm_actions       = local.topics
  ok_actions          = local.topics
}

resource "aws_cloudwatch_metric_alarm" "memory" {
  alarm_name          = "${var.name}-memory"
  alarm_description   = "An instance of the function is nearly out of memory. ${var.runbook}#alarm-memory"
  namespace           = "Stile"
  metric_name         = "memory_percent"
  dimensions          = { function = aws_lambda_function.stile.function_name }
  statistic           = "Maximum"
  period              = 300
  evaluation_periods  = 1
  threshold           = var.memory_percent
  comparison_operator = "GreaterThanOrEqualToThreshold"
  treat_missing_data  = "notBreaching"
  alarm_actions       = local.topics
  ok_actions          = local.topics
}

resource "aws_cloudwatch_metric_alarm" "missing_endpoints" {
  alarm_name          = "${var.name}-missing-endpoints"
  alarm_description   = "Endpoints are missing that were served or preloaded, or all are. ${var.runbook}#alarm-missing-endpoints"
  namespace           = "Stile"
  metric_name         = "endpoints_missing"
  dimensions          = { function = aws_lambda_function.stile.function_name }
  statistic           = "Sum"
  period              = 300
  evaluation_periods  = 1
  threshold           = 0
  comparison_operator = "GreaterThanThreshold"
  treat_missing_data  = "notBreaching"
  alarm_actions       = local.topics
  ok_actions          = local.topics
}

resource "aws_cloudwatch_dashboard" "stile" {
  dashboard_name = var.name
  dashboard_body = <<-EOT
    {
      "widgets": [
        {"type": "alarm", "x": 0, "y": 0, "width": 24, "height": 2, "properties": {"title": "Alarms", "alarms": [
          "${aws_cloudwatch_metric_alarm.function_errors.arn}", "${aws_cloudwatch_metric_alarm.request_errors.arn}", "${aws_cloudwatch_metric_alarm.throttles.arn}",
          "${aws_cloudwatch_metric_alarm.duration.arn}", "${aws_cloudwatch_metric_alarm.upstream_failures.arn}", "${aws_cloudwatch_metric_alarm.rare_upstream_failures.arn}",
          "${aws_cloudwatch_metric_alarm.api_errors.arn}", "${aws_cloudwatch_metric_alarm.rare_api_errors.arn}", "${aws_cloudwatch_metric_alarm.upstream_limits.arn}",
          "${aws_cloudwatch_metric_alarm.schema_drift.arn}", "${aws_cloudwatch_metric_alarm.callers_refused.arn}", "${aws_cloudwatch_metric_alarm.gateway_throttles.arn}",
          "${aws_cloudwatch_metric_alarm.gateway_errors.arn}", "${aws_cloudwatch_metric_alarm.concurrency.arn}", "${aws_cloudwatch_metric_alarm.bundle_age.arn}", "${aws_cloudwatch_metric_alarm.memory.arn}",
          "${aws_cloudwatch_metric_alarm.missing_endpoints.arn}"
          ${local.has_metrics_by_endpoint ? ", \"${aws_cloudwatch_metric_alarm.endpoint_down[0].arn}\"" : ""}
        ]}},
        {"type": "metric", "x": 0, "y": 2, "width": 8, "height": 6, "properties": {
          "title": "Calls and errors", "region": "${data.aws_region.current.id}", "stat": "Sum", "period": 300, "metrics": [
            ["Stile", "calls_run", "function", "${aws_lambda_function.stile.function_name}"],
            ["Stile", "errors", "function", "${aws_lambda_function.stile.function_name}"],
            ["Stile", "upstream_failures", "function", "${aws_lambda_function.stile.function_name}"],
            ["Stile", "api_errors", "function", "${aws_lambda_function.stile.function_name}"],
            ["Stile", "upstream_limits", "function", "${aws_lambda_function.stile.function_name}"],
            ["Stile", "schema_drift", "function", "${aws_lambda_function.stile.function_name}"],
            ["Stile", "endpoint_down", "function", "${aws_lambda_function.stile.function_name}", {"stat": "Maximum"}]
        ]}},
        {"type": "metric", "x": 8, "y": 2, "width": 8, "height": 6, "properties": {
          "title": "Refused", "region": "${data.aws_region.current.id}", "stat": "Sum", "period": 300, "metrics": [
            ["Stile", "refusals_credential", "function", "${aws_lambda_function.stile.function_name}"],
            ["Stile", "callers_refused", "function", "${aws_lambda_function.stile.function_name}"],
            ["Stile", "refusals_unknown", "function", "${aws_lambda_function.stile.function_name}"],
            ["Stile", "refusals_input", "function", "${aws_lambda_function.stile.function_name}"],
            ["Stile", "refusals_protocol", "function", "${aws_lambda_function.stile.function_name}"],
            ["Stile", "requests_unserved", "function", "${aws_lambda_function.stile.function_name}"]
        ]}},
        {"type": "metric", "x": 16, "y": 2, "width": 8, "height": 6, "properties": {
          "title": "Milliseconds of a call", "region": "${data.aws_region.current.id}", "period": 300, "metrics": [
            ["Stile", "duration_ms", "function", "${aws_lambda_function.stile.function_name}", {"stat": "p50"}],
            ["Stile", "duration_ms", "function", "${aws_lambda_function.stile.function_name}", {"stat": "p99"}],
            ["Stile", "upstream_ms", "function", "${aws_lambda_function.stile.function_name}", {"stat": "p50"}],
            ["Stile", "upstream_ms", "function", "${aws_lambda_function.stile.function_name}", {"stat": "p99"}]
        ]}},
        {"type": "metric", "x": 0, "y": 8, "width": 8, "height": 6, "properties": {
          "title": "Answers", "region": "${data.aws_region.current.id}", "period": 300, "metrics": [
            ["Stile", "answer_bytes", "function", "${aws_lambda_function.stile.function_name}", {"stat": "p99"}],
            ["Stile", "answer_tokens", "function", "${aws_lambda_function.stile.function_name}", {"stat": "p99"}],
            ["Stile", "answers_cut", "function", "${aws_lambda_function.stile.function_name}", {"stat": "Sum", "yAxis": "right"}],
            ["Stile", "tasks_failed", "function", "${aws_lambda_function.stile.function_name}", {"stat": "Sum", "yAxis": "right"}]
        ]}},
        {"type": "metric", "x": 8, "y": 8, "width": 8, "height": 6, "properties": {
          "title": "Instances and bundles", "region": "${data.aws_region.current.id}", "period": 300, "metrics": [
            ["Stile", "cold_starts", "function", "${aws_lambda_function.stile.function_name}", {"stat": "Sum"}],
            ["Stile", "endpoints_missing", "function", "${aws_lambda_function.stile.function_name}", {"stat": "Sum"}],
            ["Stile", "bundle_age_s", "function", "${aws_lambda_function.stile.function_name}", {"stat": "Maximum", "yAxis": "right"}],
            ["Stile", "memory_percent", "function", "${aws_lambda_function.stile.function_name}", {"stat": "Maximum", "yAxis": "right"}]
        ]}},
        {"type": "metric", "x": 16, "y": 8, "width": 8, "height": 6, "properties": {
          "title": "Lambda", "region": "${data.aws_region.current.id}", "stat": "Sum", "period": 300, "metrics": [
            ["AWS/Lambda", "Invocations", "FunctionName", "${aws_lambda_function.stile.function_name}"],
            ["AWS/Lambda", "Errors", "FunctionName", "${aws_lambda_function.stile.function_name}"],
            ["AWS/Lambda", "Throttles", "FunctionName", "${aws_lambda_function.stile.function_name}"],
            ["AWS/Lambda", "ConcurrentExecutions", "FunctionName", "${aws_lambda_function.stile.function_name}", {"stat": "Maximum"}]
        ]}},
        {"type": "metric", "x": 0, "y": 14, "width": 12, "height": 6, "properties": {
          "title": "HTTP API", "region": "${data.aws_region.current.id}", "stat": "Sum", "period": 300, "metrics": [
            ["AWS/ApiGateway", "Count", "ApiId", "${aws_apigatewayv2_api.stile.id}"],
            ["AWS/ApiGateway", "4xx", "ApiId", "${aws_apigatewayv2_api.stile.id}"],
            ["AWS/ApiGateway", "5xx", "ApiId", "${aws_apigatewayv2_api.stile.id}"],
            ["Stile/${aws_apigatewayv2_api.stile.id}", "gateway_throttles"]
        ]}},
        {"type": "metric", "x": 12, "y": 14, "width": 12, "height": 6, "properties": {
          "title": "Failures of APIs, by endpoint", "region": "${data.aws_region.current.id}", "period": 300, "metrics": [
            [{"expression": "SEARCH('{Stile,function,endpoint} MetricName=\"upstream_failures\" function=\"${aws_lambda_function.stile.function_name}\"', 'Sum')"}]
        ]}}
      ]
    }
  EOT
}
