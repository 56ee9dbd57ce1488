# From trussworks/terraform-aws-wafv2 main.tf: rules that are made of variables, whose limits nothing here says.
variable "slow" { default = null }
resource "aws_wafv2_web_acl" "main" {
  name  = var.name
  scope = var.scope
  dynamic "rule" {
    for_each = var.slow != null ? [var.slow] : []
    content {
      name     = rule.value.name
      priority = rule.value.priority
      action {
        dynamic "block" {
          for_each = rule.value.action == "block" ? [1] : []
          content {}
        }
      }
      statement {
        rate_based_statement {
          limit              = rule.value.limit
          aggregate_key_type = "IP"
        }
      }
    }
  }
}
