# Written as the parameters of template.yaml, infra/observability.yaml and infra/domain.yaml. tests/infra/test_terraform.py
# compares both sides.

variable "name" {
  description = "What the names of all resources begin with. A second deployment in the same account and region needs another one."
  type        = string
  default     = "stile"
  nullable    = false

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]*$", var.name)) && length(var.name) <= 24
    error_message = "name: expected small letters, digits and \"-\", 24 characters at most, with a letter first"
  }
}

variable "zip" {
  description = "The file that `make zip` has written, for example \"build/function.zip\"."
  type        = string
  nullable    = false
}

variable "bundle_prefix" {
  description = "Folder inside the bundle bucket that the function serves, for example \"endpoints\" or \"prod/endpoints\"."
  type        = string
  default     = "endpoints"
  nullable    = false

  validation {
    condition     = can(regex("^[A-Za-z0-9][A-Za-z0-9_.-]*(/[A-Za-z0-9][A-Za-z0-9_.-]*)*$", var.bundle_prefix))
    error_message = "bundle_prefix: expected letters, digits, \"_\", \".\" and \"-\", in parts joined by \"/\", without a \"/\" at either end"
  }

  validation {
    condition     = length(var.bundle_prefix) <= 200
    error_message = "bundle_prefix: expected 200 characters at most"
  }
}

variable "bucket_name" {
  description = "A bucket that exists to read bundles from, for example the one of an earlier deployment. The module changes nothing of it. Empty: the module makes one."
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = can(regex("^$|^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$", var.bucket_name))
    error_message = "bucket_name: expected the name of a bucket that exists, or nothing"
  }
}

variable "preload" {
  description = "Endpoints to load while a new instance starts, for example \"api/customers,api/orders\". Others load at the first request for them. Empty: none."
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = can(regex("^$|^[A-Za-z][A-Za-z0-9_-]*/[A-Za-z][A-Za-z0-9_-]*(,[A-Za-z][A-Za-z0-9_-]*/[A-Za-z][A-Za-z0-9_-]*)*$", var.preload))
    error_message = "preload: expected folder/name, joined by commas and without spaces"
  }
}

variable "catalog" {
  description = "Endpoints in the public catalog at /.well-known/ai-catalog.json, for example \"api/customers,api/orders\". Each sets `server.listed`. Empty: no catalog."
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = can(regex("^$|^[A-Za-z][A-Za-z0-9_-]*/[A-Za-z][A-Za-z0-9_-]*(,[A-Za-z][A-Za-z0-9_-]*/[A-Za-z][A-Za-z0-9_-]*){0,49}$", var.catalog))
    error_message = "catalog: expected at most 50 times folder/name, joined by commas and without spaces"
  }
}

variable "refresh_seconds" {
  description = "How old a loaded endpoint may get before a request looks for a newer one, in seconds."
  type        = number
  default     = 60
  nullable    = false

  validation {
    condition     = var.refresh_seconds >= 1 && var.refresh_seconds <= 300
    error_message = "refresh_seconds: expected a number from 1 to 300"
  }
}

variable "max_stale_seconds" {
  description = "How old a loaded endpoint may get before a request waits for a newer one, in seconds."
  type        = number
  default     = 300
  nullable    = false

  validation {
    condition     = var.max_stale_seconds >= 1 && var.max_stale_seconds <= 86400
    error_message = "max_stale_seconds: expected a number from 1 to 86400"
  }
}

variable "architecture" {
  description = "Processors that the function was built for. Change it in samconfig.toml too, and build again."
  type        = string
  default     = "arm64"
  nullable    = false

  validation {
    condition     = contains(["arm64", "x86_64"], var.architecture)
    error_message = "architecture: expected one of arm64, x86_64"
  }
}

variable "extras" {
  description = "Parts beyond the rest that the function was built with: \"code\" runs tools in Python, \"jwt\" verifies tokens, \"page\" is the page for browsers. Change it in samconfig.toml too, and build again."
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = can(regex("^$|^(code|jwt|page)(,(code|jwt|page))*$", var.extras))
    error_message = "extras: expected code, jwt and page, joined by commas and without spaces, or nothing"
  }
}

variable "code_modules" {
  description = "Python packages and modules that endpoints may take tools from, for example \"shop_tools\". The build has to put them into the function, so change it in samconfig.toml too, and build again. Empty: none."
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = can(regex("^$|^[A-Za-z_][A-Za-z0-9_]*(\\.[A-Za-z_][A-Za-z0-9_]*)*(,[A-Za-z_][A-Za-z0-9_]*(\\.[A-Za-z_][A-Za-z0-9_]*)*)*$", var.code_modules))
    error_message = "code_modules: expected names of Python packages or modules, joined by commas and without spaces, 256 characters at most"
  }

  validation {
    condition     = length(var.code_modules) <= 256
    error_message = "code_modules: expected 256 characters at most"
  }
}

variable "page" {
  description = "Whether browsers get a page of tools at the URLs of the endpoints. The page itself tells nobody anything: it asks with the credential of its user. It needs \"page\" in extras."
  type        = string
  default     = "off"
  nullable    = false

  validation {
    condition     = contains(["off", "on"], var.page)
    error_message = "page: expected one of off, on"
  }
}

variable "public_url" {
  description = "Where clients reach the API, if that is neither its own domain nor a custom domain mapped to it as a whole, for example behind a CDN, or https://mcp.example.com/tools if the mapping has the path \"tools\". OAuth clients compare it with the URL that they were given. Empty: as API Gateway says."
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = can(regex("^$|^https://[^/?#@\\s\"]+(/[^/?#\\s\"]+)*$", var.public_url))
    error_message = "public_url: expected a URL that begins with https://, without a query, a fragment, or a \"/\" at the end"
  }
}

variable "allowed_origins" {
  description = "Origins whose scripts may call from a browser, for example \"https://app.example.com\". Other browsers are refused. Empty: none."
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = can(regex("^$|^\\*$|^[a-z][a-z0-9+.-]*://[^/?#@*\\s,]+(,[a-z][a-z0-9+.-]*://[^/?#@*\\s,]+)*$", var.allowed_origins))
    error_message = "allowed_origins: expected origins such as https://app.example.com, joined by commas and without spaces, or *"
  }
}

variable "default_endpoint" {
  description = "Whether the API answers at its own domain, execute-api, as well. Off once clients use a domain of yours, or a CDN that has a WAF. API Gateway then answers 404 there, also at the URLs of the outputs."
  type        = string
  default     = "on"
  nullable    = false

  validation {
    condition     = contains(["on", "off"], var.default_endpoint)
    error_message = "default_endpoint: expected one of on, off"
  }
}

variable "throttle_rate" {
  description = "Requests per second of all callers together that API Gateway passes on; it answers 429 to more."
  type        = number
  default     = 40
  nullable    = false

  validation {
    condition     = var.throttle_rate >= 1 && var.throttle_rate <= 10000
    error_message = "throttle_rate: expected a number from 1 to 10000"
  }
}

variable "throttle_burst" {
  description = "How many requests may come at once before throttle_rate counts."
  type        = number
  default     = 80
  nullable    = false

  validation {
    condition     = var.throttle_burst >= 1 && var.throttle_burst <= 5000
    error_message = "throttle_burst: expected a number from 1 to 5000"
  }
}

variable "upstream_hosts" {
  description = "Hosts that endpoints may have asked: APIs, key sets and token endpoints, for example \"*.example.com\". Empty: all that have an address outside of the function and its link."
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = can(regex("^$|^(\\*\\.)?[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)*(,(\\*\\.)?[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)*)*$", var.upstream_hosts))
    error_message = "upstream_hosts: expected names of hosts such as api.example.com or *.example.com, joined by commas and without spaces"
  }
}

variable "subnet_ids" {
  description = "Private subnets of a VPC that the function asks APIs from, by their ids. They need a way to S3 and Secrets Manager, which infra/network.yaml has. Empty: the function is in no VPC."
  type        = list(string)
  default     = []
  nullable    = false

  validation {
    condition     = alltrue([for each in var.subnet_ids : can(regex("^$|^subnet-([0-9a-f]{8}|[0-9a-f]{17})$", each))])
    error_message = "subnet_ids: expected ids of subnets"
  }
}

variable "security_group_ids" {
  description = "Security groups of the function in that VPC, by their ids. They have to allow HTTPS to the APIs and to AWS. Empty: the function is in no VPC."
  type        = list(string)
  default     = []
  nullable    = false

  validation {
    condition     = alltrue([for each in var.security_group_ids : can(regex("^$|^sg-([0-9a-f]{8}|[0-9a-f]{17})$", each))])
    error_message = "security_group_ids: expected ids of security groups"
  }

  validation {
    condition     = (length(var.subnet_ids) == 0 && length(var.security_group_ids) == 0) || (length(var.subnet_ids) != 0 && length(var.security_group_ids) != 0)
    error_message = "subnet_ids and security_group_ids are both given, or neither."
  }
}

variable "secrets_prefix" {
  description = "How the names of the secrets begin that endpoints may read, for example \"stile\": secret:K of shop/orders is \"stile/shop/orders/K\" in Secrets Manager, ssm:K \"/stile/shop/orders/K\" in Parameter Store. Empty: none."
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = can(regex("^$|^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*$", var.secrets_prefix))
    error_message = "secrets_prefix: expected letters, digits, \"_\" and \"-\", in parts joined by \"/\", without a \"/\" at either end"
  }

  validation {
    condition     = length(var.secrets_prefix) <= 200
    error_message = "secrets_prefix: expected 200 characters at most"
  }
}

variable "secret_arns" {
  description = "Secrets in Secrets Manager that endpoints may read as env:NAME, by their ARNs: NAME is what comes last in the name of the secret, so \"stile/COGNITO\" is env:COGNITO. Never the secret itself. Empty: none."
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = can(regex("^$|^arn:aws(-cn|-us-gov)?:secretsmanager:[a-z]{2}(-[a-z]+)+-[0-9]{1,2}:[0-9]{12}:secret:([A-Za-z0-9/_+=.@-]+/)?[A-Za-z0-9_]+-[A-Za-z0-9]{6}(,arn:aws(-cn|-us-gov)?:secretsmanager:[a-z]{2}(-[a-z]+)+-[0-9]{1,2}:[0-9]{12}:secret:([A-Za-z0-9/_+=.@-]+/)?[A-Za-z0-9_]+-[A-Za-z0-9]{6})*$", var.secret_arns))
    error_message = "secret_arns: expected whole ARNs of secrets in Secrets Manager, joined by commas and without spaces, of names that end in letters, digits and \"_\", as stile/COGNITO"
  }
}

variable "env_secrets" {
  description = "Which endpoint may read which of them for its API, for example \"shop/orders/COGNITO\". Empty: any endpoint all."
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = can(regex("^$|^[A-Za-z][A-Za-z0-9_-]*/[A-Za-z][A-Za-z0-9_-]*/[A-Za-z0-9_]+(,[A-Za-z][A-Za-z0-9_-]*/[A-Za-z][A-Za-z0-9_-]*/[A-Za-z0-9_]+)*$", var.env_secrets))
    error_message = "env_secrets: expected folder/name/NAME, joined by commas and without spaces"
  }
}

variable "log_key_arn" {
  description = "A secret of 32 characters or more with which the log digests who called, so that lines of one caller can be told without naming them. This is its ARN in Secrets Manager. Empty: the module makes one."
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = can(regex("^$|^arn:aws(-cn|-us-gov)?:secretsmanager:[a-z]{2}(-[a-z]+)+-[0-9]{1,2}:[0-9]{12}:secret:[A-Za-z0-9/_+=.@-]+-[A-Za-z0-9]{6}$", var.log_key_arn))
    error_message = "log_key_arn: expected the complete ARN of a secret in Secrets Manager, or nothing"
  }
}

variable "state_key_arn" {
  description = "A secret that seals what a tool asks its user, until the answer comes. This is its ARN in Secrets Manager; it holds 32 characters or more without commas and spaces, or two such keys joined by a comma while one is replaced, the new one first. Empty: the module makes one."
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = can(regex("^$|^arn:aws(-cn|-us-gov)?:secretsmanager:[a-z]{2}(-[a-z]+)+-[0-9]{1,2}:[0-9]{12}:secret:[A-Za-z0-9/_+=.@-]+-[A-Za-z0-9]{6}$", var.state_key_arn))
    error_message = "state_key_arn: expected the complete ARN of a secret in Secrets Manager, or nothing"
  }
}

variable "kms_key_arn" {
  description = "A key of yours in KMS that encrypts both logs, the bucket, the secrets and the variables that the module makes. Its policy has to let CloudWatch Logs use it. Empty: AWS's own keys."
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = can(regex("^$|^arn:aws(-cn|-us-gov)?:kms:[a-z]{2}(-[a-z]+)+-[0-9]{1,2}:[0-9]{12}:key/[A-Za-z0-9-]{36}$", var.kms_key_arn))
    error_message = "kms_key_arn: expected the ARN of a key in KMS, not of an alias, or nothing"
  }
}

variable "managed_policy_arns" {
  description = "ARNs of IAM policies that the function's role gets as well, for example of one that allows appsync:GraphQL or kms:Decrypt. Empty: none."
  type        = list(string)
  default     = []
  nullable    = false
}

variable "permissions_boundary" {
  description = "ARN of the IAM policy that bounds the function's role, where the account asks for one. Empty: none."
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = can(regex("^$|^arn:aws[a-z-]*:iam::([0-9]{12}|aws):policy/[A-Za-z0-9/_+=,.@-]+$", var.permissions_boundary))
    error_message = "permissions_boundary: expected the ARN of an IAM policy, or nothing"
  }
}

variable "memory_size" {
  description = "Memory of the function in MB. Lambda gives CPU in proportion to it: 1024 keeps cold starts short, less is cheaper only where they do not matter."
  type        = number
  default     = 1024
  nullable    = false

  validation {
    condition     = var.memory_size >= 256 && var.memory_size <= 10240
    error_message = "memory_size: expected a number from 256 to 10240"
  }
}

variable "cache_megabytes" {
  description = "How much memory the endpoints that are held may take, in MB. Those unused for longest go. memory_size has to have room for it."
  type        = number
  default     = 128
  nullable    = false

  validation {
    condition     = var.cache_megabytes >= 1 && var.cache_megabytes <= 10240
    error_message = "cache_megabytes: expected a number from 1 to 10240"
  }
}

variable "reserved_concurrency" {
  description = "How many instances may run at once, taken from what the account has. 0 stops the function. Empty: as many as the account has left."
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = can(regex("^$|^(0|[1-9][0-9]{0,4})$", var.reserved_concurrency))
    error_message = "reserved_concurrency: expected a number, or nothing"
  }
}

variable "log_level" {
  description = "What the function logs. INFO is one line a request, without tokens, arguments or bodies."
  type        = string
  default     = "INFO"
  nullable    = false

  validation {
    condition     = contains(["DEBUG", "INFO", "WARNING", "ERROR"], var.log_level)
    error_message = "log_level: expected one of DEBUG, INFO, WARNING, ERROR"
  }
}

variable "log_subject" {
  description = "Whether the log has a digest of a caller's issuer and subject, or both as they are."
  type        = string
  default     = "hashed"
  nullable    = false

  validation {
    condition     = contains(["hashed", "plain"], var.log_subject)
    error_message = "log_subject: expected one of hashed, plain"
  }
}

variable "log_retention_days" {
  description = "How long CloudWatch keeps the function's log and the API's access log, in days."
  type        = number
  default     = 30
  nullable    = false

  validation {
    condition     = contains([1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1827, 3653], var.log_retention_days)
    error_message = "log_retention_days: expected one of 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1827, 3653"
  }
}

variable "metrics" {
  description = "Whether lines of the log carry metrics of CloudWatch, which the alarms and the dashboard read. \"endpoint\" (\"on\" is the same) adds those of each endpoint, which CloudWatch charges for one by one, and with which an alarm names it."
  type        = string
  default     = "function"
  nullable    = false

  validation {
    condition     = contains(["function", "endpoint", "on", "off"], var.metrics)
    error_message = "metrics: expected one of function, endpoint, on, off"
  }
}

variable "tracing" {
  description = "Active lets Lambda sample requests for X-Ray, and the role send traces. With PassThrough the role may send none."
  type        = string
  default     = "PassThrough"
  nullable    = false

  validation {
    condition     = contains(["PassThrough", "Active"], var.tracing)
    error_message = "tracing: expected one of PassThrough, Active"
  }
}

variable "topic_arn" {
  description = "A topic in SNS that gets every alarm and its end. Empty: none, or a new one for email."
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = can(regex("^$|^arn:aws(-cn|-us-gov)?:sns:[a-z]{2}(-[a-z]+)+-[0-9]{1,2}:[0-9]{12}:[A-Za-z0-9_-]{1,256}(\\.fifo)?$", var.topic_arn))
    error_message = "topic_arn: expected the ARN of a topic in SNS, or nothing"
  }
}

variable "email" {
  description = "An address that a new topic of the module sends alarms to, after its owner has confirmed a mail of AWS. Empty: none."
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = can(regex("^$|^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$", var.email))
    error_message = "email: expected an e-mail address, or nothing"
  }

  validation {
    condition     = var.topic_arn == "" || var.email == ""
    error_message = "topic_arn names a topic, or email an address for a new one, and not both."
  }
}

variable "runbook" {
  description = "Where your team reads the runbook. Descriptions of alarms end in it and the name of a section."
  type        = string
  default     = "docs/operate/runbook.md"
  nullable    = false

  validation {
    condition     = can(regex("^[^#\\s\"\\\\]+$", var.runbook))
    error_message = "runbook: expected a URL or a path, without white space, quotes, \"\\\" and \"#\""
  }
}

variable "errors_in_five_minutes" {
  description = "How many errors in five minutes are not an alarm yet."
  type        = number
  default     = 0
  nullable    = false

  validation {
    condition     = var.errors_in_five_minutes >= 0
    error_message = "errors_in_five_minutes: expected a number of 0 or more"
  }
}

variable "throttles_in_five_minutes" {
  description = "How many throttled invocations in five minutes are not an alarm yet."
  type        = number
  default     = 0
  nullable    = false

  validation {
    condition     = var.throttles_in_five_minutes >= 0
    error_message = "throttles_in_five_minutes: expected a number of 0 or more"
  }
}

variable "duration_ms" {
  description = "How long the slowest hundredth of calls may take, in milliseconds, before it is an alarm."
  type        = number
  default     = 10000
  nullable    = false

  validation {
    condition     = var.duration_ms >= 1
    error_message = "duration_ms: expected a number of 1 or more"
  }
}

variable "upstream_failures_in_five_minutes" {
  description = "How many failures of APIs in five minutes are not an alarm yet, however few calls there were. The same for errors and limits of APIs, and for answers of API Gateway."
  type        = number
  default     = 2
  nullable    = false

  validation {
    condition     = var.upstream_failures_in_five_minutes >= 0
    error_message = "upstream_failures_in_five_minutes: expected a number of 0 or more"
  }
}

variable "failure_share" {
  description = "How many calls in a hundred may fail at their API, or at API Gateway, before it is an alarm."
  type        = number
  default     = 20
  nullable    = false

  validation {
    condition     = var.failure_share >= 0 && var.failure_share <= 100
    error_message = "failure_share: expected a number from 0 to 100"
  }
}

variable "api_error_share" {
  description = "How many calls in a hundred an API may answer with errors alone, or limit, before it is an alarm."
  type        = number
  default     = 50
  nullable    = false

  validation {
    condition     = var.api_error_share >= 0 && var.api_error_share <= 100
    error_message = "api_error_share: expected a number from 0 to 100"
  }
}

variable "drift_in_an_hour" {
  description = "How many calls in an hour may meet another schema than the published one before it is an alarm."
  type        = number
  default     = 2
  nullable    = false

  validation {
    condition     = var.drift_in_an_hour >= 0
    error_message = "drift_in_an_hour: expected a number of 0 or more"
  }
}

variable "callers_refused_in_five_minutes" {
  description = "How many refused credentials in five minutes are not an alarm yet, however few requests there were."
  type        = number
  default     = 9
  nullable    = false

  validation {
    condition     = var.callers_refused_in_five_minutes >= 0
    error_message = "callers_refused_in_five_minutes: expected a number of 0 or more"
  }
}

variable "callers_refused_share" {
  description = "How many requests in a hundred may have a refused credential before it is an alarm."
  type        = number
  default     = 50
  nullable    = false

  validation {
    condition     = var.callers_refused_share >= 0 && var.callers_refused_share <= 100
    error_message = "callers_refused_share: expected a number from 0 to 100"
  }
}

variable "concurrent_executions" {
  description = "How many instances all functions of the account may use before it is an alarm. Four fifths of its quota, which is 1,000 for most accounts, and 10 for some new ones."
  type        = number
  default     = 800
  nullable    = false

  validation {
    condition     = var.concurrent_executions >= 1
    error_message = "concurrent_executions: expected a number of 1 or more"
  }
}

variable "bundle_age_seconds" {
  description = "How long ago an endpoint may have been compared with the bucket, in seconds, before it is an alarm. More than max_stale_seconds."
  type        = number
  default     = 600
  nullable    = false

  validation {
    condition     = var.bundle_age_seconds >= 1
    error_message = "bundle_age_seconds: expected a number of 1 or more"
  }
}

variable "memory_percent" {
  description = "How much of the function's memory an instance may have had, in percent, before it is an alarm. Lambda ends an instance that needs more than there is, with all that runs in it."
  type        = number
  default     = 90
  nullable    = false

  validation {
    condition     = var.memory_percent >= 1 && var.memory_percent <= 100
    error_message = "memory_percent: expected a number from 1 to 100"
  }
}

variable "domain_name" {
  description = "The host that clients reach the API at, for example \"mcp.example.com\". Empty: the module makes no domain."
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = can(regex("^$|^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$", var.domain_name))
    error_message = "domain_name: expected a name of a host such as mcp.example.com, in small letters, or nothing"
  }

  validation {
    condition     = length(var.domain_name) <= 253
    error_message = "domain_name: expected 253 characters at most"
  }
}

variable "certificate_arn" {
  description = "A certificate for the host, in the region of the API. Empty: the module makes one, which the records of hosted_zone_id validate."
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = can(regex("^$|^arn:aws(-cn|-us-gov)?:acm:[a-z]{2}(-[a-z]+)+-[0-9]{1,2}:[0-9]{12}:certificate/[A-Za-z0-9-]+$", var.certificate_arn))
    error_message = "certificate_arn: expected the ARN of a certificate in ACM, or nothing"
  }
}

variable "hosted_zone_id" {
  description = "The hosted zone of the host in Route 53, which gets its records. Empty: point the host to the output Target yourself."
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = can(regex("^$|^Z[A-Z0-9]{1,31}$", var.hosted_zone_id))
    error_message = "hosted_zone_id: expected the id of a hosted zone, or nothing"
  }

  validation {
    condition     = var.domain_name == "" || var.certificate_arn != "" || var.hosted_zone_id != ""
    error_message = "certificate_arn names a certificate, or hosted_zone_id the zone that validates a new one."
  }
}
