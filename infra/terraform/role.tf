# What the function may do, as template.yaml: to read its bundles and keys, and to write its log.

locals {
  has_boundary    = var.permissions_boundary != ""
  has_secrets     = var.secrets_prefix != ""
  has_secret_arns = var.secret_arns != ""
}

resource "aws_iam_role" "function" {
  name_prefix          = "${var.name}-"
  description          = "What the Stile function may do, which is to read its bundles and keys and write its log."
  permissions_boundary = local.has_boundary ? var.permissions_boundary : null
  assume_role_policy   = data.aws_iam_policy_document.assume.json
}

data "aws_iam_policy_document" "assume" {
  statement {
    effect  = "Allow"
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = ["lambda.amazonaws.com"]
    }
  }
}

resource "aws_iam_role_policy_attachment" "managed" {
  # By number, because the ARN of a policy that is made at the same time is not known yet.
  count = length(var.managed_policy_arns)

  role       = aws_iam_role.function.name
  policy_arn = var.managed_policy_arns[count.index]
}

resource "aws_iam_role_policy" "bundles" {
  name   = "bundles"
  role   = aws_iam_role.function.name
  policy = data.aws_iam_policy_document.bundles.json
}

data "aws_iam_policy_document" "bundles" {
  statement {
    sid       = "ReadBundles"
    effect    = "Allow"
    actions   = ["s3:GetObject"]
    resources = ["${local.bucket_arn}/${var.bundle_prefix}/*"]
  }

  # S3 answers 404 for a missing key to those alone who may list; the condition s3:prefix would not hold for that check.
  statement {
    sid       = "TellMissingFromForbidden"
    effect    = "Allow"
    actions   = ["s3:ListBucket"]
    resources = [local.bucket_arn]
  }
}

resource "aws_iam_role_policy" "keys" {
  name   = "keys"
  role   = aws_iam_role.function.name
  policy = data.aws_iam_policy_document.keys.json
}

data "aws_iam_policy_document" "keys" {
  statement {
    sid     = "ReadKeys"
    effect  = "Allow"
    actions = ["secretsmanager:GetSecretValue"]
    resources = [
      local.makes_log_key ? aws_secretsmanager_secret.log_key[0].arn : var.log_key_arn,
      local.makes_state_key ? aws_secretsmanager_secret.state_key[0].arn : var.state_key_arn,
    ]
  }
}

resource "aws_iam_role_policy" "log" {
  name   = "log"
  role   = aws_iam_role.function.name
  policy = data.aws_iam_policy_document.log.json
}

data "aws_iam_policy_document" "log" {
  statement {
    sid       = "WriteLog"
    effect    = "Allow"
    actions   = ["logs:CreateLogStream", "logs:PutLogEvents"]
    resources = ["${aws_cloudwatch_log_group.function.arn}:*"]
  }
}

resource "aws_iam_role_policy" "key" {
  count = local.has_kms_key ? 1 : 0

  name   = "key"
  role   = aws_iam_role.function.name
  policy = data.aws_iam_policy_document.key.json
}

data "aws_iam_policy_document" "key" {
  statement {
    sid       = "UseKey"
    effect    = "Allow"
    actions   = ["kms:Decrypt"]
    resources = [var.kms_key_arn]
  }
}

resource "aws_iam_role_policy" "network" {
  count = local.uses_vpc ? 1 : 0

  name   = "network"
  role   = aws_iam_role.function.name
  policy = data.aws_iam_policy_document.network.json
}

data "aws_iam_policy_document" "network" {
  statement {
    sid    = "JoinTheNetwork"
    effect = "Allow"
    actions = [
      "ec2:CreateNetworkInterface",
      "ec2:DescribeNetworkInterfaces",
      "ec2:DescribeSubnets",
      "ec2:DeleteNetworkInterface",
      "ec2:AssignPrivateIpAddresses",
      "ec2:UnassignPrivateIpAddresses",
    ]
    resources = ["*"]
  }
}

resource "aws_iam_role_policy" "stay_out_of_the_network" {
  count = local.uses_vpc ? 1 : 0

  name   = "stay-out-of-the-network"
  role   = aws_iam_role.function.name
  policy = data.aws_iam_policy_document.stay_out_of_the_network.json
}

data "aws_iam_policy_document" "stay_out_of_the_network" {
  statement {
    sid    = "StayOutOfTheNetwork"
    effect = "Deny"
    actions = [
      "ec2:CreateNetworkInterface",
      "ec2:DescribeNetworkInterfaces",
      "ec2:DescribeSubnets",
      "ec2:DeleteNetworkInterface",
      "ec2:AssignPrivateIpAddresses",
      "ec2:UnassignPrivateIpAddresses",
    ]
    resources = ["*"]

    condition {
      test     = "ArnEquals"
      variable = "lambda:SourceFunctionArn"
      values   = [aws_lambda_function.stile.arn]
    }
  }
}

resource "aws_iam_role_policy" "traces" {
  count = local.traces ? 1 : 0

  name   = "traces"
  role   = aws_iam_role.function.name
  policy = data.aws_iam_policy_document.traces.json
}

data "aws_iam_policy_document" "traces" {
  statement {
    sid       = "SendTraces"
    effect    = "Allow"
    actions   = ["xray:PutTraceSegments", "xray:PutTelemetryRecords"]
    resources = ["*"]
  }
}

resource "aws_iam_role_policy" "secrets" {
  count = local.has_secrets ? 1 : 0

  name   = "secrets"
  role   = aws_iam_role.function.name
  policy = data.aws_iam_policy_document.secrets.json
}

data "aws_iam_policy_document" "secrets" {
  statement {
    sid       = "ReadSecrets"
    effect    = "Allow"
    actions   = ["secretsmanager:GetSecretValue"]
    resources = ["arn:${data.aws_partition.current.partition}:secretsmanager:${data.aws_region.current.id}:${data.aws_caller_identity.current.account_id}:secret:${var.secrets_prefix}/*"]
  }

  statement {
    sid       = "ReadParameters"
    effect    = "Allow"
    actions   = ["ssm:GetParameter"]
    resources = ["arn:${data.aws_partition.current.partition}:ssm:${data.aws_region.current.id}:${data.aws_caller_identity.current.account_id}:parameter/${var.secrets_prefix}/*"]
  }
}

resource "aws_iam_role_policy" "secret_arns" {
  count = local.has_secret_arns ? 1 : 0

  name   = "secret-arns"
  role   = aws_iam_role.function.name
  policy = data.aws_iam_policy_document.secret_arns.json
}

data "aws_iam_policy_document" "secret_arns" {
  statement {
    sid       = "ReadNamedSecrets"
    effect    = "Allow"
    actions   = ["secretsmanager:GetSecretValue"]
    resources = split(",", var.secret_arns)
  }
}
