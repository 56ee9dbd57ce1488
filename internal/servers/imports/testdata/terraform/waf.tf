# A web ACL, as Terraform has it.
variable "most" { default = 300 }

resource "aws_wafv2_web_acl" "site" {
  name  = "site"
  scope = "REGIONAL"
  default_action {
    allow {}
  }
  /* rules of others
     { stand elsewhere */
  rule {
    name     = "pages"
    priority = 2
    action {
      block {}
    }
    statement {
      rate_based_statement {
        limit                 = 1000 # in five minutes
        aggregate_key_type    = "IP"
        scope_down_statement {
          or_statement {
            statement {
              byte_match_statement {
                positional_constraint = "EXACTLY"
                search_string         = "/search"
                field_to_match {
                  uri_path {}
                }
                text_transformation {
                  priority = 0
                  type     = "NONE"
                }
              }
            }
            statement {
              regex_match_statement {
                regex_string = "(?i)bot"
                field_to_match {
                  single_header { name = "user-agent" }
                }
                text_transformation {
                  priority = 0
                  type     = "NONE"
                }
              }
            }
          }
        }
      }
    }
    visibility_config { metric_name = <<-NAME
      pages {
      NAME
    }
  }
  rule {
    name     = "site"
    priority = 1
    action { captcha {} }
    statement {
      rate_based_statement {
        limit                 = 10000
        evaluation_window_sec = 600
        aggregate_key_type    = "CONSTANT"
        scope_down_statement {
          geo_match_statement { country_codes = ["US", "CA"] }
        }
      }
    }
  }
  rule {
    name     = "variable"
    priority = 3
    statement {
      rate_based_statement {
        limit = var.most
      }
    }
  }
  tags = merge(var.tags, { Name = "x" })
}
