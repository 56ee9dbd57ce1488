# From saxophonicle/JSR_app waf.tf: a rate for one country, at the edge.
resource "aws_wafv2_web_acl" "site" {
	provider = aws.east
  name  = "edge"
  scope = "CLOUDFRONT"
  default_action {
    allow {}
  }
  rule {
    name     = "per-client"
    priority = 1
    action {
      block {}
    }
    statement {
      rate_based_statement {
        limit              = 10000
        aggregate_key_type = "IP"
        scope_down_statement {
          geo_match_statement {
            country_codes = ["US"]
          }
        }
      }
    }
    visibility_config {
      cloudwatch_metrics_enabled = false
      metric_name                = "per-client"
      sampled_requests_enabled   = false
    }
  }
}
