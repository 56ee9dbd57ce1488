package commands

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"shadow/internal/testneeds"
)

// The recipes of README.md and docs/recipes.md are run as they stand, each in a folder of its own, on the logs that they
// name.

var (
	recipeTitle  = regexp.MustCompile(`(?m)^### (.+)$`)
	recipeConfig = regexp.MustCompile("(?s)```yaml\n(.*?)```")
	recipeScript = regexp.MustCompile("(?s)```sh\n(.*?)```")
)

func TestReadmeRecipes(t *testing.T) {
	var recipes string
	for _, page := range []string{readme, "../../docs/recipes.md"} {
		text, err := os.ReadFile(page)
		must(t, err)
		recipes += string(text)
	}
	titles := recipeTitle.FindAllStringSubmatchIndex(recipes, -1)
	if len(titles) < 10 {
		t.Fatalf("there are only %d recipes", len(titles))
	}
	for i, at := range titles {
		end := len(recipes)
		if i+1 < len(titles) {
			end = titles[i+1][0]
		}
		t.Run(recipes[at[2]:at[3]], func(t *testing.T) {
			t.Parallel() // tails take their time
			runRecipe(t, recipes[at[1]:end])
		})
	}
}

// runRecipe runs the commands of a recipe, each of which must succeed.
func runRecipe(t *testing.T, recipe string) {
	dir := recipeFolder(t)
	if config := recipeConfig.FindStringSubmatch(recipe); config != nil {
		must(t, os.WriteFile(filepath.Join(dir, "shadow.yaml"), []byte(config[1]), 0o600))
	}
	script := recipeScript.FindStringSubmatch(recipe)
	if script == nil {
		t.Fatal("a recipe without commands")
	}
	lines := strings.Split(strings.TrimSpace(script[1]), "\n")
	if n := strings.Count(recipe, "\n```sh\n"); n != 1 || len(lines) > 8 {
		t.Errorf("%d blocks of commands, %d lines: a recipe is one block of at most 8", n, len(lines))
	}
	// Paths of a server are those of the folder, and the port is any. A tail ends after six seconds: a busy machine may take
	// some of them to start it.
	commands := strings.NewReplacer("/var/", dir+"/var/", ":9598", ":0",
		"shadow tail ", "timeout --foreground --preserve-status --signal=INT 6 shadow tail ").Replace(script[1])
	if strings.Contains(commands, "timeout ") {
		testneeds.Program(t, "timeout")
	}
	cmd := exec.Command("bash", "-euxo", "pipefail", "-c", commands)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TZ=UTC", "COLUMNS=", raceExit)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// anIngress holds what kubectl writes, with a limit.
const anIngress = `apiVersion: v1
kind: List
items:
  - apiVersion: networking.k8s.io/v1
    kind: Ingress
    metadata: {name: shop, annotations: {nginx.ingress.kubernetes.io/limit-rpm: "10"}}
    spec: {rules: [{http: {paths: [{path: /, pathType: Prefix}]}}]}
`

// recipeFolder has the logs that recipes read.
func recipeFolder(t *testing.T) string {
	dir := t.TempDir()
	shop, err := os.ReadFile("../../sample-logs/shop-combined.log")
	must(t, err)
	for _, folder := range []string{"var/log/nginx", "var/log/shadow", "var/lib/shadow"} {
		must(t, os.MkdirAll(filepath.Join(dir, folder), 0o700))
	}
	lines := strings.SplitAfter(string(shop), "\n")
	var keyed, proxied strings.Builder
	for i, line := range lines[:200] {
		words := strings.Fields(line)
		fmt.Fprintf(&keyed, "%s %s %s \"GET / HTTP/1.1\" 200 key%d\n", words[0], words[3], words[4], i%3)
		fmt.Fprintf(&proxied, "10.0.0.1%s \"%s\"\n", strings.TrimSuffix(strings.TrimPrefix(line, words[0]), "\n"), words[0])
	}
	for name, log := range map[string]string{
		"access.log": string(shop), "var/log/nginx/access.log": string(shop),
		"web1.log": strings.Join(lines[:700], ""), "web2.log": strings.Join(lines[700:], ""),
		"api.log": keyed.String(), "proxied.log": proxied.String(), "ingress.yaml": anIngress,
	} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(log), 0o600))
	}
	return dir
}
