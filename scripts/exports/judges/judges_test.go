// Package judges has the real code of servers judge what shadow export writes, as files of the folder SHADOW_EXPORTS.
// It is a module of its own: the program needs none of this.
package judges

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/envoyproxy/gateway/api/v1alpha1"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/local_ratelimit/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/http/original_ip_detection/xff/v3"
	"github.com/envoyproxy/ratelimit/src/config"
	"github.com/envoyproxy/ratelimit/src/settings"
	"github.com/envoyproxy/ratelimit/src/stats"
	gostats "github.com/lyft/gostats"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	networking "k8s.io/api/networking/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	crd "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apicel "k8s.io/apiserver/pkg/apis/cel"
	gateway "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/yaml"
)

// A text is what is exported.
type text struct {
	Target, Wanted string
	Blocks         []struct {
		Place string
		Lines []string
	}
}

// block is the lines for a place; "" if there are none.
func (t text) block(word string) string {
	for _, b := range t.Blocks {
		if strings.Contains(b.Place, word) {
			return strings.Join(b.Lines, "\n") + "\n"
		}
	}
	return ""
}

// judges are the targets, with what judges a text for each.
var judges = map[string]func(t *testing.T, x text) error{
	"envoy": func(t *testing.T, x text) error {
		if err := message(x.block("HTTP connection manager"), managed); err != nil {
			return err
		}
		if err := message(x.block("virtual host"), new(routev3.VirtualHost)); err != nil {
			return err
		}
		return service(x.block("rate limit service"))
	},
	"envoy-local": func(t *testing.T, x text) error {
		if err := message(x.block("HTTP connection manager"), managed); err != nil {
			return err
		}
		return message(x.block("http_filters"), new(hcmv3.HttpFilter))
	},
	"envoy-gateway": func(t *testing.T, x text) error {
		for _, doc := range documents(x.block("")) {
			if strings.Contains(doc, "kind: HTTPRoute\n") {
				if err := yaml.UnmarshalStrict([]byte(doc), new(gateway.HTTPRoute)); err != nil {
					return err
				}
				continue
			}
			if err := yaml.UnmarshalStrict([]byte(doc), new(v1alpha1.BackendTrafficPolicy)); err != nil {
				return err
			}
			if err := resource(t, "github.com/envoyproxy/gateway",
				"charts/gateway-helm/charts/crds/crds/generated/gateway.envoyproxy.io_backendtrafficpolicies.yaml", doc); err != nil {
				return err
			}
		}
		return nil
	},
	"ingress-nginx": func(t *testing.T, x text) error {
		for _, doc := range documents(x.block("")) {
			if err := yaml.UnmarshalStrict([]byte(doc), new(networking.Ingress)); err != nil {
				return err
			}
		}
		return nil
	},
}

func TestJudges(t *testing.T) {
	for target, judge := range judges {
		t.Run(target, func(t *testing.T) {
			names, err := filepath.Glob(filepath.Join(os.Getenv("SHADOW_EXPORTS"), target+"-[0-9]*.json"))
			if err != nil || len(names) == 0 {
				t.Fatal("nothing is exported", err)
			}
			for _, name := range names {
				content, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				var x text
				if err := json.Unmarshal(content, &x); err != nil {
					t.Fatal(err)
				}
				if err := judge(t, x); err != nil {
					t.Errorf("%s: %v", x.Wanted, err)
					for _, b := range x.Blocks {
						t.Logf("[%s]\n%s", b.Place, strings.Join(b.Lines, "\n"))
					}
				}
			}
			t.Logf("%d texts", len(names))
		})
	}
}

// TestJudgesRefuse: what is wrong is refused, so that what is taken says something.
func TestJudgesRefuse(t *testing.T) {
	for target, wrong := range map[string]func(string) string{
		"envoy":             replaced("requests_per_unit", "requests_by_unit"),
		"envoy-local":       replaced("max_tokens: ", "max_tokens: 0 #"),
		"envoy-gateway":     replaced("unit: ", "unit: Fortnight #"),
		"ingress-nginx":     replaced("pathType", "typeOfPath"),
		"caddy":             replaced("events", "occasions"),
		"aws-waf-terraform": replaced("limit = ", "limits = "),
	} {
		t.Run(target, func(t *testing.T) {
			content, err := os.ReadFile(filepath.Join(os.Getenv("SHADOW_EXPORTS"), target+"-000.json"))
			if err != nil {
				t.Fatal(err)
			}
			var x text
			if err := json.Unmarshal(content, &x); err != nil {
				t.Fatal(err)
			}
			for _, b := range x.Blocks {
				for i, line := range b.Lines {
					b.Lines[i] = wrong(line)
				}
			}
			if err := judges[target](t, x); err == nil {
				t.Errorf("this is taken: %v", x.Blocks)
			}
		})
	}
}

func replaced(old, by string) func(string) string {
	return func(line string) string { return strings.ReplaceAll(line, old, by) }
}

func documents(all string) (docs []string) {
	for _, doc := range strings.Split(all, "\n---\n") {
		if strings.TrimSpace(strings.TrimPrefix(doc, "---")) != "" {
			docs = append(docs, doc)
		}
	}
	return docs
}

// managed is a connection manager: what it must have besides is there.
var managed = &hcmv3.HttpConnectionManager{
	StatPrefix:     "x",
	RouteSpecifier: &hcmv3.HttpConnectionManager_RouteConfig{RouteConfig: &routev3.RouteConfiguration{}},
}

// message reads a message of Envoy's strictly, and asks its own rules of it and what is in it. A virtual host gets what it
// must have besides.
func message(lines string, base proto.Message) error {
	if lines == "" {
		return nil
	}
	text, err := yaml.YAMLToJSON([]byte(lines))
	if err != nil {
		return err
	}
	m := base.ProtoReflect().New().Interface()
	if err := protojson.Unmarshal(text, m); err != nil {
		return err
	}
	switch whole := m.(type) {
	case *routev3.VirtualHost:
		whole.Name, whole.Domains = "x", []string{"*"}
	case *hcmv3.HttpConnectionManager:
		whole.StatPrefix, whole.RouteSpecifier = managed.StatPrefix, managed.RouteSpecifier
		for _, x := range whole.OriginalIpDetectionExtensions {
			if err := inner(x.GetTypedConfig()); err != nil {
				return err
			}
		}
	case *hcmv3.HttpFilter:
		if err := inner(whole.GetTypedConfig()); err != nil {
			return err
		}
	}
	return m.(interface{ ValidateAll() error }).ValidateAll()
}

// inner asks the rules of what is inside a message as any.
func inner(any interface {
	UnmarshalNew() (proto.Message, error)
},
) error {
	m, err := any.UnmarshalNew()
	if err != nil {
		return err
	}
	return m.(interface{ ValidateAll() error }).ValidateAll()
}

// service has the rate limit service load its configuration.
func service(lines string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	root := config.ConfigFileContentToYaml("shadow.yaml", lines)
	store := gostats.NewStore(gostats.NewNullSink(), false)
	loaded := config.NewRateLimitConfigLoaderImpl().Load(
		[]config.RateLimitConfigToLoad{{Name: "shadow", ConfigYaml: root}}, stats.NewStatManager(store, settings.Settings{}), false)
	if loaded.IsEmptyDomains() || !strings.Contains(loaded.Dump(), "requests_per_unit") && loaded.Dump() == "" {
		return fmt.Errorf("nothing is limited: %s", loaded.Dump())
	}
	return nil
}

// A definition is that of a resource: its schema, and the rules in its words.
type definition struct {
	schema validation.SchemaValidator
	whole  *structural.Structural
	rules  *cel.Validator
}

var definitions = map[string]*definition{}

// resource validates a resource of Kubernetes by its definition, which a module carries.
func resource(t *testing.T, module, path, doc string) error {
	of := definitions[path]
	if of == nil {
		dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
		if err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), path))
		if err != nil {
			t.Fatal(err)
		}
		var d crd.CustomResourceDefinition
		if err := yaml.Unmarshal(content, &d); err != nil {
			t.Fatal(err)
		}
		var inside apiextensions.JSONSchemaProps
		if err := crd.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(d.Spec.Versions[0].Schema.OpenAPIV3Schema, &inside, nil); err != nil {
			t.Fatal(err)
		}
		of = new(definition)
		if of.schema, _, err = validation.NewSchemaValidator(&inside); err != nil {
			t.Fatal(err)
		}
		if of.whole, err = structural.NewStructural(&inside); err != nil {
			t.Fatal(err)
		}
		of.rules = cel.NewValidator(of.whole, true, apicel.PerCallLimit)
		definitions[path] = of
	}
	var value any
	if err := yaml.Unmarshal([]byte(doc), &value); err != nil {
		return err
	}
	if err := validation.ValidateCustomResource(nil, value, of.schema).ToAggregate(); err != nil {
		return err
	}
	problems, _ := of.rules.Validate(t.Context(), nil, of.whole, value, nil, apicel.RuntimeCELCostBudget)
	return problems.ToAggregate()
}
