# From cloudflare/terraform-provider-cloudflare docs/resources/ruleset.md: its rate limiting rule, with others beside it
resource "cloudflare_ruleset" "zone" {
  zone_id = var.zone
  name    = "Rate limiting API requests"
  kind    = "zone"
  phase   = "http_ratelimit"
  rules {
    action      = "block"
    description = "api"
    expression  = "(http.request.uri.path matches \"^/api/\" and ip.src ne 192.0.2.7)"
    ratelimit {
      characteristics     = ["cf.colo.id", "ip.src", "http.request.headers[\"x-api-key\"]"]
      period              = 60
      requests_per_period = 100
      mitigation_timeout  = 600
      requests_to_origin  = true
    }
  }
  rules {
    action      = "managed_challenge"
    description = "login"
    expression  = "(starts_with(lower(http.request.uri.path), \"/login\") or http.request.uri.path in {\"/a\" \"/b\"}) and not ip.src in {192.0.2.0/24 2001:db8::/32} and cf.waf.score le 20"
    enabled     = true
    ratelimit {
      characteristics     = ["ip.src", "cf.colo.id"]
      period              = var.seconds
      requests_per_period = 5
      counting_expression = "http.host eq \"shop.example\" and http.response.code eq 401"
      score_per_period    = 3
    }
  }
  rules {
    action = "block"
    description = "off"
    enabled = false
    expression = "true"
    ratelimit { characteristics = ["ip.src"] }
  }
}

variable "seconds" {
  default = 10
}

resource "cloudflare_ruleset" "newer" {
  rules = [{
    action     = "block"
    ref        = "all"
    expression = "http.request.method eq \"PUT\""
    ratelimit  = { characteristics = ["cf.unique_visitor_id"], period = 10, requests_per_period = 20, mitigation_timeout = 0 }
  }]
}

resource "cloudflare_rate_limit" "old" {
  threshold = 2000
  period    = 2
}
