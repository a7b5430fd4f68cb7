# The stacks of one environment by Terraform: each resource is a stack of CloudFormation, made of
# the same template, with the same parameters and in the same order as docs/deploy.md makes it.

terraform {
  required_version = ">= 1.5"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.0"
    }
  }
}

variable "environment" {
  description = "Name of a file of dags/environments"
  type        = string
}

variable "region" {
  description = "The environment's region"
  type        = string
}

variable "work_bucket" {
  description = "The bucket of artifacts, through which generated templates go"
  type        = string
}

variable "folder" {
  description = "Where `infra terraform` wrote the generated templates"
  type        = string
}

variable "parameters" {
  description = "What the environment's file says, by layer; `infra terraform` writes it"
  type        = map(map(string))
}

variable "more" {
  # A stack is told these and `parameters` alone: what is left out goes back to the template's
  # default, whatever the stack was given before.
  description = "Every value that people gave, by layer, as MonthlyBudget of alerts"
  type        = map(map(string))
  default     = {}
}

variable "layers" {
  description = "The layers to deploy, each with those that it takes values from"
  type        = set(string)
  default     = ["network", "endpoints", "data", "emr", "domains", "alerts"]
}

locals {
  prefix = "lake-${var.environment}"
  tags   = { "lake:environment" = var.environment }
  given  = { for layer, known in var.parameters : layer => merge(known, lookup(var.more, layer, {})) }
}

resource "aws_cloudformation_stack" "network" {
  count         = contains(var.layers, "network") ? 1 : 0
  name          = "${local.prefix}-network"
  template_body = file("${path.module}/../templates/network.yml")
  parameters    = lookup(local.given, "network", {})
  capabilities  = ["CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"]
  tags          = local.tags

  timeouts {
    create = "120m"
    update = "180m"
    delete = "60m"
  }
}

resource "aws_cloudformation_stack" "endpoints" {
  count         = contains(var.layers, "endpoints") ? 1 : 0
  name          = "${local.prefix}-endpoints"
  template_body = file("${path.module}/../templates/endpoints.yml")
  parameters    = lookup(local.given, "endpoints", {})
  capabilities  = ["CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"]
  tags          = local.tags
  depends_on    = [aws_cloudformation_stack.network]

  timeouts {
    create = "120m"
    update = "180m"
    delete = "60m"
  }
}

resource "aws_cloudformation_stack" "data" {
  count         = contains(var.layers, "data") ? 1 : 0
  name          = "${local.prefix}-data"
  template_body = file("${path.module}/../templates/data.yml")
  parameters    = lookup(local.given, "data", {})
  capabilities  = ["CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"]
  tags          = local.tags
  depends_on    = [aws_cloudformation_stack.endpoints]

  timeouts {
    create = "120m"
    update = "180m"
    delete = "60m"
  }
}

resource "aws_cloudformation_stack" "emr" {
  count         = contains(var.layers, "emr") ? 1 : 0
  name          = "${local.prefix}-emr"
  template_body = file("${path.module}/../templates/emr.yml")
  parameters    = lookup(local.given, "emr", {})
  capabilities  = ["CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"]
  tags          = local.tags
  depends_on    = [aws_cloudformation_stack.data]

  timeouts {
    create = "120m"
    update = "180m"
    delete = "60m"
  }
}

# A request takes 51,200 characters of a template, so this one goes by S3; a new name for new
# content, by which the stack is updated.
resource "aws_s3_object" "domains" {
  count      = contains(var.layers, "domains") ? 1 : 0
  bucket     = var.work_bucket
  key        = "artifacts/templates/domains-${filesha256("${var.folder}/domains.json")}.json"
  source     = "${var.folder}/domains.json"
  depends_on = [aws_cloudformation_stack.data]
}

resource "aws_cloudformation_stack" "domains" {
  count        = contains(var.layers, "domains") ? 1 : 0
  name         = "${local.prefix}-domains"
  template_url = "https://${var.work_bucket}.s3.${var.region}.amazonaws.com/${aws_s3_object.domains[0].key}"
  parameters   = lookup(local.given, "domains", {})
  capabilities = ["CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"]
  tags         = local.tags
  depends_on   = [aws_cloudformation_stack.emr]

  timeouts {
    create = "120m"
    update = "180m"
    delete = "60m"
  }
}

resource "aws_cloudformation_stack" "alerts" {
  count         = contains(var.layers, "alerts") ? 1 : 0
  name          = "${local.prefix}-alerts"
  template_body = file("${path.module}/../templates/alerts.yml")
  parameters    = lookup(local.given, "alerts", {})
  capabilities  = ["CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"]
  tags          = local.tags
  depends_on    = [aws_cloudformation_stack.domains]

  timeouts {
    create = "120m"
    update = "180m"
    delete = "60m"
  }
}

resource "aws_cloudformation_stack" "mwaa" {
  count         = contains(var.layers, "mwaa") ? 1 : 0
  name          = "${local.prefix}-mwaa"
  template_body = file("${path.module}/../templates/mwaa.yml")
  parameters    = lookup(local.given, "mwaa", {})
  capabilities  = ["CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"]
  tags          = local.tags
  depends_on    = [aws_cloudformation_stack.alerts]

  timeouts {
    create = "120m"
    update = "180m"
    delete = "60m"
  }
}

resource "aws_cloudformation_stack" "deploy" {
  count         = contains(var.layers, "deploy") ? 1 : 0
  name          = "${local.prefix}-deploy"
  template_body = file("${path.module}/../templates/deploy.yml")
  parameters    = lookup(local.given, "deploy", {})
  capabilities  = ["CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"]
  tags          = local.tags
  depends_on    = [aws_cloudformation_stack.mwaa]

  timeouts {
    create = "120m"
    update = "180m"
    delete = "60m"
  }
}

# A request takes 51,200 characters of a template, so this one goes by S3; a new name for new
# content, by which the stack is updated.
resource "aws_s3_object" "readers" {
  count      = contains(var.layers, "readers") ? 1 : 0
  bucket     = var.work_bucket
  key        = "artifacts/templates/readers-${filesha256("${var.folder}/readers.json")}.json"
  source     = "${var.folder}/readers.json"
  depends_on = [aws_cloudformation_stack.data]
}

resource "aws_cloudformation_stack" "readers" {
  count        = contains(var.layers, "readers") ? 1 : 0
  name         = "${local.prefix}-readers"
  template_url = "https://${var.work_bucket}.s3.${var.region}.amazonaws.com/${aws_s3_object.readers[0].key}"
  parameters   = lookup(local.given, "readers", {})
  capabilities = ["CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"]
  tags         = local.tags
  depends_on   = [aws_cloudformation_stack.deploy]

  timeouts {
    create = "120m"
    update = "180m"
    delete = "60m"
  }
}

output "outputs" {
  description = "The outputs of the stacks, by layer"
  value = {
    network   = one(aws_cloudformation_stack.network[*].outputs)
    endpoints = one(aws_cloudformation_stack.endpoints[*].outputs)
    data      = one(aws_cloudformation_stack.data[*].outputs)
    emr       = one(aws_cloudformation_stack.emr[*].outputs)
    domains   = one(aws_cloudformation_stack.domains[*].outputs)
    alerts    = one(aws_cloudformation_stack.alerts[*].outputs)
    mwaa      = one(aws_cloudformation_stack.mwaa[*].outputs)
    deploy    = one(aws_cloudformation_stack.deploy[*].outputs)
    readers   = one(aws_cloudformation_stack.readers[*].outputs)
  }
}
