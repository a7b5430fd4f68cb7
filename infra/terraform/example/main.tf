# The environment prod, of the files that `./run_locally.sh infra terraform prod DIR` writes into
# this folder: lake.auto.tfvars.json, domains.json and, with readers, readers.json.

provider "aws" {
  region = var.region
}

variable "region" { type = string }
variable "environment" { type = string }
variable "work_bucket" { type = string }
variable "parameters" { type = map(map(string)) }

module "lake" {
  source      = "../"
  environment = var.environment
  region      = var.region
  work_bucket = var.work_bucket
  folder      = path.module
  parameters  = var.parameters
  layers      = ["network", "endpoints", "data", "emr", "domains", "alerts"]
  more = {
    network   = { VpcCidr = "10.20.0.0/20" }
    endpoints = { EndpointZones = "2" }
    alerts    = { AlarmEmail = "you@example.com", MonthlyBudget = "800" }
  }
}

output "outputs" { value = module.lake.outputs }
