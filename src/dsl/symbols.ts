/**
 * The keys under which values of this language carry their parts of the snapshot. They are symbols, so that an editor does not offer
 * them to the author and no name of the author's meets them.
 */

/** Of a condition, an event (its schema), traits (their schema), a field: its node. */
export const NODE: unique symbol = Symbol("svc.node");
/** Of what can be counted, started from or followed: the occurrences of an event that it stands for. */
export const SELECTOR: unique symbol = Symbol("svc.selector");
/** Of what is a number: how it is measured. */
export const MEASURE: unique symbol = Symbol("svc.measure");
/** Of a score: how it is made of a measure. */
export const SCORE: unique symbol = Symbol("svc.score");
/** Of what a rule can wait for. */
export const TRIGGER: unique symbol = Symbol("svc.trigger");
/** Of what a rule can do. */
export const ACTION: unique symbol = Symbol("svc.action");
/** Of each declared part of a model: which kind it is of. */
export const PART: unique symbol = Symbol("svc.part");
/** Of each declared part: the function that makes its node. It is called when every module has loaded, since conditions may be functions. */
export const LOWER: unique symbol = Symbol("svc.lower");
