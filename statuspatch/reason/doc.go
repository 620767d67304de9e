// Package reason holds the one table that says what every condition reason
// means: how it ranks against all others, who may say it, and how it reads in
// a sentence.
//
// The rank is one total order. What the customer must fix outranks what the
// platform is still doing; what stops Instances from being placed at all comes
// first, since then nothing runs that could fail. A reason the table does not
// know has rank Unknown, so that a failure named tomorrow is told today.
//
// Adding a reason is one line of the table. The package is pure and imports
// the standard library only.
package reason
