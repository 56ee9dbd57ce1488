# From aws-ss/terraform-aws-wafv2 examples/RateBasedStatement/main.tf: the rules are arguments of a module.
module "waf" {
  source         = "../..//"
  name           = "edge"
  scope          = "REGIONAL"
  default_action = "block"
  rule = [
    {
      name     = "first"
      priority = 10
      action   = "block"
      rate_based_statement = {
        limit              = 1000
        aggregate_key_type = "FORWARDED_IP"
        forwarded_ip_config = {
          fallback_behavior = "MATCH"
          header_name       = "X-Forwarded-For"
        }
      }
    }
  ]
}
