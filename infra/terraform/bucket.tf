# As infra/storage.yaml. Who may write to the bucket decides what every endpoint serves, so it grants nothing to anyone:
# infra/publisher_policy.json has the rights of who publishes.

locals {
  makes_bucket = var.bucket_name == ""
  has_kms_key  = var.kms_key_arn != ""

  # The format of bundles that the function of this release reads: FORMAT_VERSION in handler/bundle/stored.py.
  bundle_format = "2"
  bucket_name   = local.makes_bucket ? aws_s3_bucket.bundles[0].bucket : var.bucket_name
  bucket_arn    = local.makes_bucket ? aws_s3_bucket.bundles[0].arn : "arn:${data.aws_partition.current.partition}:s3:::${var.bucket_name}"
}

resource "aws_s3_bucket" "bundles" {
  count = local.makes_bucket ? 1 : 0

  bucket_prefix = "${var.name}-bundles-"
  # `terraform destroy` stops at a bucket with endpoints in it.
  force_destroy = false

  # What the function was built with, for `stile publish` to compare. Values of tags take no commas.
  tags = {
    "stile:extras"        = replace(var.extras, ",", " ")
    "stile:code-modules"  = replace(var.code_modules, ",", " ")
    "stile:bundle-format" = local.bundle_format
  }
}

resource "aws_s3_bucket_versioning" "bundles" {
  count = local.makes_bucket ? 1 : 0

  bucket = aws_s3_bucket.bundles[0].bucket

  versioning_configuration {
    status = "Enabled"
  }
}

resource "aws_s3_bucket_server_side_encryption_configuration" "bundles" {
  count = local.makes_bucket ? 1 : 0

  bucket = aws_s3_bucket.bundles[0].bucket

  rule {
    bucket_key_enabled = local.has_kms_key ? true : null

    apply_server_side_encryption_by_default {
      sse_algorithm     = local.has_kms_key ? "aws:kms" : "AES256"
      kms_master_key_id = local.has_kms_key ? var.kms_key_arn : null
    }
  }
}

resource "aws_s3_bucket_public_access_block" "bundles" {
  count = local.makes_bucket ? 1 : 0

  bucket                  = aws_s3_bucket.bundles[0].bucket
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_s3_bucket_ownership_controls" "bundles" {
  count = local.makes_bucket ? 1 : 0

  bucket = aws_s3_bucket.bundles[0].bucket

  rule {
    object_ownership = "BucketOwnerEnforced"
  }
}

resource "aws_s3_bucket_lifecycle_configuration" "bundles" {
  count = local.makes_bucket ? 1 : 0

  bucket = aws_s3_bucket.bundles[0].bucket

  rule {
    id     = "forget-replaced-versions"
    status = "Enabled"

    filter {}

    noncurrent_version_expiration {
      noncurrent_days           = 90
      newer_noncurrent_versions = 5
    }
  }

  rule {
    id     = "forget-withdrawn-endpoints"
    status = "Enabled"

    filter {}

    expiration {
      expired_object_delete_marker = true
    }
  }

  rule {
    id     = "drop-unfinished-uploads"
    status = "Enabled"

    filter {}

    abort_incomplete_multipart_upload {
      days_after_initiation = 1
    }
  }

  depends_on = [aws_s3_bucket_versioning.bundles]
}

resource "aws_s3_bucket_policy" "bundles" {
  count = local.makes_bucket ? 1 : 0

  bucket = aws_s3_bucket.bundles[0].bucket
  policy = data.aws_iam_policy_document.bundles_bucket[0].json

  # S3 refuses two changes of a bucket's access at once.
  depends_on = [aws_s3_bucket_public_access_block.bundles]
}

data "aws_iam_policy_document" "bundles_bucket" {
  count = local.makes_bucket ? 1 : 0

  statement {
    sid       = "OnlyOverTls"
    effect    = "Deny"
    actions   = ["s3:*"]
    resources = [aws_s3_bucket.bundles[0].arn, "${aws_s3_bucket.bundles[0].arn}/*"]

    principals {
      type        = "*"
      identifiers = ["*"]
    }

    condition {
      test     = "Bool"
      variable = "aws:SecureTransport"
      values   = ["false"]
    }
  }
}
