package text

// colour is the code of one, for terminals.
type colour string

const (
	none   colour = ""
	bold   colour = "1"
	red    colour = "31"
	green  colour = "32"
	yellow colour = "33"
)

// paint colours a text, if colours are wanted.
func (o Options) paint(c colour, s string) string {
	if !o.Colour || c == none || s == "" {
		return s
	}
	return "\x1b[" + string(c) + "m" + s + "\x1b[0m"
}
