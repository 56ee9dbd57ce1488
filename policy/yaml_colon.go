package policy

import (
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// A colon without a blank behind it is a piece of a text. The parser forgets that in a list within braces: what it makes
// of {limits: [token:5/m]} is a list of the mapping from token to 5/m.

// unsplit is the text that the parser took for a mapping, or the node itself.
func unsplit(at node) node {
	m, ok := at.(*ast.MappingNode)
	if !ok || m.IsFlowStyle || len(m.Values) != 1 {
		return at
	}
	key, colon, value := m.Values[0].Key.GetToken(), m.Values[0].Start, m.Values[0].Value.GetToken()
	quoted := key.Type == token.SingleQuoteType || key.Type == token.DoubleQuoteType
	if quoted || colon.Position.Line != value.Position.Line || value.Position.Offset != colon.Position.Offset+1 {
		return at
	}
	text := strings.TrimSpace(key.Origin) + ":" + strings.TrimSpace(value.Origin)
	return ast.String(&token.Token{Type: token.StringType, Value: text, Origin: text, Position: key.Position})
}
