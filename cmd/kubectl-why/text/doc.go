// Package text writes explanations for people: the answer and its cause first,
// what to do about it, then the tree. It fits a terminal of 80 columns.
//
// Messages come from whoever may write an Instance's status. They are printed
// as plain text: nothing in them can move the cursor or change a colour.
//
// The package knows no terminal: width and colour are told.
package text
