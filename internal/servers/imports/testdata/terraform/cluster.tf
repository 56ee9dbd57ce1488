# From xiongye77/eks-demo waf2.tf: a rate, and nothing else.
resource "aws_wafv2_web_acl" "cluster" {
  provider = "aws.wafv2_provider"
  name  = "cluster"
  scope = "REGIONAL"
  default_action {
    allow {}
  }
  rule {
    name     = "Slow"
    priority = 1
    action {
      block {}
    }
    statement {

      rate_based_statement {
        aggregate_key_type = "IP"
        limit              = 500
      }
    }
  }
}
