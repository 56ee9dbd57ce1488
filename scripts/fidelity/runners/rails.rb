# Runs rate_limit of Rails with its MemoryStore: FIDELITY_RAILS=SOURCE ruby rails.rb COUNT SECONDS < schedule > verdicts
require "set"
require "monitor"
require "logger"

if RUBY_VERSION < "3.3" # which the source wants; nothing here runs in a Ractor
  $LOADED_FEATURES << "#{ENV.fetch("FIDELITY_RAILS")}/activesupport/lib/active_support/ractors.rb"
  module ActiveSupport
    module Ractors
      def self.method_missing(name, *given) = name.end_with?("shareable") ? given.first : nil
    end
  end

  class Ractor
    OWN = {}
    def self.[](key) = OWN[key]
    def self.[]=(key, value)
      OWN[key] = value
    end
  end
end
$LOAD_PATH.unshift("#{ENV.fetch("FIDELITY_RAILS")}/activesupport/lib", "#{ENV.fetch("FIDELITY_RAILS")}/actionpack/lib")
require "active_support"
require "active_support/notifications"
require "active_support/cache"
require "active_support/cache/memory_store"
require "action_controller/metal/rate_limiting"

$now = 0.0
class << Time
  alias real_now now
  def now = $now.zero? ? real_now : at($now)
end

# Asks as the before_action of a controller does.
class Controller
  include ActionController::RateLimiting
  STORE = ActiveSupport::Cache::MemoryStore.new
  attr_reader :request

  def admits?(client, count, seconds)
    admitted = true
    rate_limiting(to: count, within: seconds, by: -> { client }, with: -> { admitted = false }, store: STORE, name: nil,
                  scope: "all")
    admitted
  end
end

controller = Controller.new
out = +""
$stdin.each_line do |line|
  at, client = line.split
  $now = at.to_i / 1e6
  out << (controller.admits?(client, ARGV[0].to_i, ARGV[1].to_i) ? "1" : "0")
end
puts out
