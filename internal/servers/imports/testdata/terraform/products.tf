# Limits of products without a reader, a bot beside a host, addresses, and a fallback.
resource "cloudflare_ruleset" "edge" {
  rules {
    action     = "block"
    expression = "(not cf.client.bot and http.host eq \"a.example\" and not ip.src in {192.0.2.0/24 2001:db8::/32})"
    ratelimit {
      characteristics     = ["ip.src"]
      period              = 60
      requests_per_period = 10
    }
  }
}
resource "aws_api_gateway_usage_plan" "plan" {
  throttle_settings {
    burst_limit = 20
    rate_limit  = 100
  }
}
resource "aws_api_gateway_method_settings" "all" {
  settings {
    throttling_rate_limit = 100
  }
}
resource "google_compute_security_policy" "armor" {
  rule {
    action = "throttle"
    rate_limit_options {
      rate_limit_threshold {
        count        = 500
        interval_sec = 60
      }
    }
  }
}
resource "aws_waf_rate_based_rule" "classic" {
  rate_key   = "IP"
  rate_limit = 2000
}
resource "azurerm_web_application_firewall_policy" "azure" {
  custom_rules {
    rule_type = "RateLimitRule"
  }
}
resource "fastly_service_vcl" "edge" {
  rate_limiter {
    rps_limit = 10
  }
}
resource "aws_s3_bucket" "logs" {
  bucket = "logs"
}
resource "aws_wafv2_web_acl" "acl" {
  rule {
    name     = "forwarded"
    priority = 1
    action {
      block {}
    }
    statement {
      rate_based_statement {
        limit              = 100
        aggregate_key_type = "FORWARDED_IP"
        forwarded_ip_config {
          header_name       = "X-Forwarded-For"
          fallback_behavior = "NO_MATCH"
        }
      }
    }
  }
}
