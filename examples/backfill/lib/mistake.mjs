/** What the user has to see to: told in one line, without a stack. */
export class Mistake extends Error {}

/** What is wrong with one row. The other rows may be sent without it. */
export class RowProblem extends Error {}
