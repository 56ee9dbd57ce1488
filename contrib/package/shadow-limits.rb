class ShadowLimits < Formula
  desc "Say what a rate limit should be, and who it would hit, from access logs"
  homepage "@HOMEPAGE@"
  url "@HOMEPAGE@/releases/download/v@VERSION@/shadow-@VERSION@.tar.gz"
  version "@VERSION@"
  sha256 "@SHA256@"
  license "Apache-2.0"

  depends_on "go" => :build

  def install
    built = "-X main.version=#{version} -X main.commit=@COMMIT@ -X main.date=@DATE@"
    system "go", "-C", "scale", "build", *std_go_args(output: bin/"shadow", ldflags: "-s -w #{built}"), "./cmd/shadow"
    system "go", "run", "-tags", "nostore,man", "./cmd/shadow", "man", man1
    generate_completions_from_executable(bin/"shadow", "completion")
  end

  test do
    (testpath/"access.log").write <<~LOG
      192.0.2.1 - - [02/Mar/2026:00:00:00 +0000] "GET / HTTP/1.1" 200 1 "-" "curl/8"
    LOG
    assert_match "window:1/1m", shell_output("#{bin}/shadow replay access.log --limit window:1/1m --no-store")
  end
end
