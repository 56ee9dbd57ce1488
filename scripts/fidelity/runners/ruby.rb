# Runs the throttle of Rack::Attack on a schedule: ruby ruby.rb COUNT SECONDS < schedule > verdicts
require "rack"
require "rack/attack"

$now = 0.0
class << Time
  alias real_now now
  def now = $now.zero? ? real_now : at($now)
end

# A store with all that the cache asks of one.
class Store
  def initialize = @counts = {}
  def read(key) = @counts[key]
  def write(key, value, _ = {}) = @counts[key] = value

  def increment(key, amount, _ = {})
    @counts[key] = @counts.fetch(key, 0) + amount
  end

  def delete_matched(_) = nil
end

Rack::Attack.cache.store = Store.new
Rack::Attack.throttle("all", limit: ARGV[0].to_i, period: ARGV[1].to_i) { |request| request.get_header("client") }
app = Rack::Attack.new(->(_) { [200, {}, []] })
out = +""
$stdin.each_line do |line|
  at, client = line.split
  $now = at.to_i / 1e6
  status, = app.call("client" => client, "PATH_INFO" => "/", "REQUEST_METHOD" => "GET", "rack.input" => nil)
  out << (status == 200 ? "1" : "0")
end
puts out
