package webhook

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"

	gojson "encoding/json"

	"sigs.k8s.io/json"
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
// since they decide: another type, or a field that stands there twice, is an
// error of type *undecodable. into keeps what could be read.
func decode(raw []byte, into any) error {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if len(raw) == 0 {
		return &undecodable{detail: "there is no object"}
	}
	if raw[0] != '{' {
		// null would decode into anything.
		return &undecodable{detail: "it is no JSON object"}
	}
	twice, err := json.UnmarshalStrict(raw, into, json.DisallowDuplicateFields)
	var wrongType *gojson.UnmarshalTypeError
	switch {
	case errors.As(err, &wrongType):
		return &undecodable{field: wrongType.Field, detail: fmt.Sprintf("must be %s, not %s", want(wrongType.Type), got(wrongType.Value))}
	case err != nil:
		return &undecodable{detail: err.Error()}
	case len(twice) > 0:
		return &undecodable{detail: twice[0].Error()}
	}
	return nil
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

// got names the JSON type of a decoder's description, "number 5" among them.
func got(value string) string {
	switch name, _, _ := strings.Cut(value, " "); name {
	case "array":
		return "a list"
	case "object":
		return "an object"
	case "bool":
		return "true or false"
	case "string":
		return "a string"
	case "number":
		return "a number"
	default:
		return value
	}
}
