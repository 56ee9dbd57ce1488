// Package hcl reads the language of Terraform: a text comes in, and a tree of its blocks and literals goes out.
package hcl

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"shadow/internal/lazy"
	"shadow/internal/policy"
)

// Parse reads blocks and literals of Terraform. What is computed stays as it is written.
func Parse(text string) *policy.Tree {
	p := &parser{tokens: tokens().FindAllStringIndex(text, -1), text: text}
	for at, c := range []byte(text) {
		if c == '\n' {
			p.breaks = append(p.breaks, at)
		}
	}
	root := policy.NewTree(1)
	p.body(root, 0)
	return root
}

var tokens = lazy.Regexp(`(?s)#[^\n]*|//[^\n]*|/\*.*?\*/|<<-?\w+[^\n]*\n|"(?:\\.|[^"\\])*"|'[^'\n]*'|[\w.*-]+|[{}\[\](),=:]|\n|[^\s\w]`)

type parser struct {
	tokens [][]int
	text   string
	at     int
	breaks []int  // where lines end
	line   int    // of the last token, from 0
	here   string // the last heredoc; its first line if it has no end
}

// next is the next token that says something; "" at the end.
func (p *parser) next(lines bool) string {
	for p.at < len(p.tokens) {
		span := p.tokens[p.at]
		token := p.text[span[0]:span[1]]
		p.at++
		p.line, _ = slices.BinarySearch(p.breaks, span[0])
		switch {
		case token == "\n" && !lines, strings.HasPrefix(token, "#"), strings.HasPrefix(token, "//"), strings.HasPrefix(token, "/*"):
			continue
		case strings.HasPrefix(token, "<<"): // up to the line that has the word alone
			word := regexp.QuoteMeta(strings.TrimSpace(strings.TrimLeft(token, "<-")))
			end := regexp.MustCompile(`(?m)^\s*` + word + `\s*$`).FindStringIndex(p.text[span[1]:])
			if p.here = token; end != nil {
				p.here = p.text[span[1] : span[1]+end[0]]
			}
			for end != nil && p.at < len(p.tokens) && p.tokens[p.at][0] < span[1]+end[1] {
				p.at++
			}
		}
		return token
	}
	return ""
}

// mostDepth is the depth to which blocks may nest.
const mostDepth = 100

func (p *parser) body(into *policy.Tree, depth int) {
	for {
		name := p.next(false)
		if name == "" || name == "}" || depth > mostDepth {
			return
		}
		if name == "," { // between the entries of a mapping
			continue
		}
		line, labels := p.line+1, []string(nil)
		for {
			switch token := p.next(true); {
			case token == "=" || token == ":":
				if v := p.value(depth); v.Text != "null" { // as if it were not there
					into.Set(unquoted(name), v)
				}
			case token == "{":
				block := policy.NewTree(line)
				block.Text = strings.Join(labels, " ")
				p.body(block, depth+1)
				into.Set(unquoted(name), block)
			case strings.HasPrefix(token, `"`): // a label
				labels = append(labels, unquoted(token))
				continue
			}
			break
		}
	}
}

// value reads what stands behind an equals sign: a literal, a list, a mapping, or an expression up to the end of its line.
func (p *parser) value(depth int) *policy.Tree {
	token := p.next(false)
	at := &policy.Tree{Line: p.line + 1}
	switch {
	case token == "{":
		at = policy.NewTree(p.line + 1)
		p.body(at, depth+1)
		return at
	case token == "[":
		at.Items = []*policy.Tree{}
		for depth < mostDepth {
			before := p.at
			switch item := p.next(false); item {
			case "]", "":
				return at
			case ",":
			default:
				p.at = before
				at.Items = append(at.Items, p.value(depth+1))
			}
		}
		return at
	}
	if strings.HasPrefix(token, "<<") && p.here != token {
		at.Text = p.here
		return at
	}
	at.Text = unquoted(strings.TrimSpace(token))
	open := 0
	for p.at < len(p.tokens) { // what else belongs to an expression
		span := p.tokens[p.at]
		switch more := p.text[span[0]:span[1]]; more {
		case "(", "{", "[":
			open++
		case ")", "}", "]":
			if open--; open < 0 {
				return at
			}
		case ",", "\n":
			if open == 0 {
				return at
			}
		default:
			if !strings.HasPrefix(more, "#") && !strings.HasPrefix(more, "//") {
				at.Text += " " + more
			}
		}
		p.at++
	}
	return at
}

func unquoted(text string) string {
	if len(text) > 1 && text[0] == '\'' {
		return strings.Trim(text, "'")
	}
	if strings.HasPrefix(text, `"`) {
		if plain, err := strconv.Unquote(text); err == nil {
			return strings.NewReplacer("$${", "${", "%%{", "%{").Replace(plain)
		}
	}
	return text
}
