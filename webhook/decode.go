package webhook

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// undecodable says which field of an object cannot be read, in the words of the
// API and not of this program's types.
type undecodable struct {
	field  string // empty where it is not known
	detail string
}

func (e *undecodable) Error() string {
	if e.field == "" {
		return e.detail
	}
	return e.field + " " + e.detail
}

// decode reads an object as the API server does: names of fields are compared
// exactly and unknown ones passed over. It is strict about the fields it knows,
// since they decide: another type is an error of type *undecodable, and so is any
// field that stands there twice, of which no API server ever sends one. An object
// that was read in part is of no use.
func decode(raw []byte, into any) error {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if len(raw) == 0 {
		return &undecodable{detail: "there is no object"}
	}
	if raw[0] != '{' {
		// null would decode into anything.
		return &undecodable{detail: "it is no JSON object"}
	}
	err := json.Unmarshal(raw, into, asTheServer)
	if err == nil {
		return nil
	}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return &undecodable{detail: fmt.Sprintf("duplicate field %q", shown(syntax.JSONPointer))}
		}
		return &undecodable{detail: strings.TrimPrefix(syntax.Error(), "jsontext: ")}
	}
	var meaning *json.SemanticError
	if !errors.As(err, &meaning) {
		return &undecodable{detail: err.Error()}
	}
	if meaning.Err != nil { // a value of the right type, such as a time, that does not read as one
		return &undecodable{field: shown(meaning.JSONPointer), detail: "cannot be read: " + meaning.Err.Error()}
	}
	return &undecodable{
		field:  shown(meaning.JSONPointer),
		detail: fmt.Sprintf("must be %s, not %s", want(meaning.GoType), got(meaning.JSONKind)),
	}
}

// asTheServer has what is no UTF-8 replaced, as the API server does.
var asTheServer = jsontext.AllowInvalidUTF8(true)

// maxPath bounds a path in a message, in characters: what stands twice may be
// anywhere in an object.
const maxPath = 512

// shown is a JSON pointer as paths are shown to the authors of objects.
func shown(pointer jsontext.Pointer) string {
	var out strings.Builder
	for token := range pointer.Tokens() {
		switch _, err := strconv.ParseUint(token, 10, 64); {
		case err == nil:
			out.WriteString("[" + token + "]")
		case out.Len() > 0:
			out.WriteString("." + token)
		default:
			out.WriteString(token)
		}
	}
	return clip(out.String(), maxPath)
}

// want names the JSON type that a Go type is read from.
func want(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	default:
		return "a number"
	}
}

// got names a JSON type.
func got(kind jsontext.Kind) string {
	switch kind {
	case jsontext.KindBeginArray:
		return "a list"
	case jsontext.KindBeginObject:
		return "an object"
	case jsontext.KindTrue, jsontext.KindFalse:
		return "true or false"
	case jsontext.KindString:
		return "a string"
	case jsontext.KindNumber:
		return "a number"
	default:
		return kind.String()
	}
}
