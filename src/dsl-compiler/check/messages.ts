import type ts from "typescript";
import { quote } from "../../model/snapshot/problem.js";
import { nearest } from "../../model/snapshot/suggestion.js";
import { type Diagnostic, diagnostic, rangeOf } from "../diagnostics/diagnostic.js";
import { fixFor } from "../diagnostics/fixes.js";
import { EXPECTED_VALUES } from "../diagnostics/shape-fixes.js";
import { durationFix } from "./other-names.js";
import { byNames, choicesOf, truncate, inWords, isFunction, typeName, withoutLazy } from "./words.js";

/** What to do where a value of one type stands where one of another is expected. */

const TO_COMPARE = "compare it, such as with .atLeast(3)";

/** What makes a condition of what is nearly one. */
const UNFINISHED = byNames([
  ["Sequence", 'add .within("7d"), or how long the sequence may take'],
  ["Quantity ScopedQuantity WindowedQuantity Calculated Comparisons Days", TO_COMPARE],
  ["StateTime", 'compare it, with .atLeast("60d")'],
  ["EventModel Occurrences", "ask about the event, such as with .happened()"],
  ["SegmentModel ManualSegment", "ask about the segment, with .has()"],
]);

/** What makes a condition of a trait, a property or a latest value, by the type of its field. */
const UNASKED = byNames([
  ["String Text Choice", 'ask for its value, such as with .is("…")'],
  ["Number", TO_COMPARE],
  ["Boolean", "ask for its value, with .is(true)"],
  ["Date", 'compare it, such as with .before("2026-01-31"), or with .exists()'],
  ["Array List", 'ask for an item of it, such as with .contains("…")'],
]);

/** What a score is made of by a function, beside traits that are numbers. */
const SCORED = new Set(["Quantity", "ScopedQuantity", "WindowedQuantity", "Calculated", "Days"]);

/** Types of which can be said what is one. */
const EXPECTED = byNames<string>([
  ["Selection", EXPECTED_VALUES.of],
  ["Score", EXPECTED_VALUES.score],
  ["Occasion Trigger", EXPECTED_VALUES.on],
  ["Action", EXPECTED_VALUES.then],
  ["Measure", EXPECTED_VALUES.per],
]);

/** What to do about a value of the type `source` where one of the type `target` is expected, as the checker prints them. */
function remedy(source: string, target: string): string {
  const given = typeName(source) ?? "";
  const expected = typeName(withoutLazy(target)) ?? "";
  const isCondition = inWords(target) === "a condition";
  const [, field = ""] =
    /^(?:(?:TraitOperand|(?:Scoped)?Latest)<(\w+?)Field\b|(\w+)Operand<)/.exec(source)?.filter(Boolean) ?? [];
  const asked = isCondition ? (UNFINISHED.get(given) ?? UNASKED.get(field)) : undefined;
  if (asked !== undefined) return asked;
  if (expected === "Score" && (SCORED.has(given) || field === "Number")) return "score it, with scale(…) or steps(…)";
  if (isFunction(target)) return /=> PropertyCondition$/.test(target) ? EXPECTED_VALUES.where : "give a function";
  if (isFunction(source)) return "call it, with ( and ) after its name";
  return EXPECTED.get(expected) ?? `give ${inWords(target)}`;
}

/** A mistake in words: a code of ours where one fits, the message, and what to do where that can be said. */
interface Said {
  code?: string;
  message: string;
  fix?: string | undefined;
}

const FUNCTION_OF_PROPERTIES: Said = {
  message: "expected a function, but this is an object",
  fix: EXPECTED_VALUES.where,
};

/** "No overload matches this call": of what the call should have been, nothing is said there. */
const NO_OVERLOAD = 2769;

/** An error of the type checker as a diagnostic. `file` is where it was found. */
export function typeDiagnostic(error: ts.Diagnostic, file: ts.SourceFile, directory: string): Diagnostic {
  const start = error.start ?? 0;
  const range = rangeOf(file, start, start + (error.length ?? 0), directory);
  const { code = "TYPE_ERROR", message, fix } = inPlainWords(error);
  return { ...diagnostic("error", code, message, range, fix), typescript: `TS${error.code}` };
}

function inPlainWords(error: ts.Diagnostic): Said {
  if (typeof error.messageText === "string") return say(error.code, error.messageText);
  const head = error.messageText;
  const said = say(head.code, head.messageText);
  // The head tells what stands there and what is expected; where that has no short name, the end of the chain tells the difference.
  const cause = deepest(head);
  const isShort = said.message.length <= 100 && !/[…{]/.test(said.message);
  const isTold = cause === head || (head.code !== NO_OVERLOAD && isShort);
  return isTold ? said : say(cause.code, cause.messageText);
}

/** The first cause of all: of several forms of a call, that of the first. */
function deepest(chain: ts.DiagnosticMessageChain): ts.DiagnosticMessageChain {
  const [next] = chain.next ?? [];
  return next ? deepest(next) : chain;
}

/** Each form of message that a model's author meets, in the words of models. The numbers are those of TypeScript. */
function say(number: number, text: string): Said {
  switch (number) {
    case 2339: // Property 'x' does not exist on type 'T'.
    case 2550:
    case 2551: // … Did you mean 'y'?
      return sayNoMember(text);
    case 2353: // Object literal may only specify known properties, and 'x' does not exist in type 'T'.
    case 2561: // … but 'x' does not exist in type 'T'. Did you mean to write 'y'?
      if (/ in type '[^]*=> PropertyCondition'/.test(text)) return FUNCTION_OF_PROPERTIES;
      return { message: `${quoted(text)} is not known here`, fix: suggested(text) ?? "remove it, or correct its name" };
    case 2304: // Cannot find name 'x'.
    case 2503:
    case 2552: // … Did you mean 'y'?
    case 2663:
    case 18004:
      return sayUnknown(text);
    case 2305: // Module '"./x.js"' has no exported member 'y'.
    case 2459:
    case 2460:
    case 2614:
    case 2724: // … Did you mean 'z'?
      return sayNoExport(text);
    case 2307: // Cannot find module 'x' or its corresponding type declarations.
      return { code: "MODULE_NOT_FOUND", message: `could not resolve ${quoted(text)}` };
    case 1117: // An object literal cannot have multiple properties with the same name.
      return { code: "DUPLICATE_KEY", message: "the object has two members of this name" };
    case 2300: // Duplicate identifier 'x'.
    case 2323: // Cannot redeclare exported variable 'x'.
    case 2451: // Cannot redeclare block-scoped variable 'x'.
      return { message: `there are two ${quoted(text)} in this file`, fix: fixFor("DUPLICATE_KEY") };
    case 2322: // Type 'S' is not assignable to type 'T'.
    case 2345: // Argument of type 'S' is not assignable to parameter of type 'T'.
    case 2820: // Type 'S' is not assignable to type 'T'. Did you mean 'y'?
      return sayMismatch(text);
    case 2741: // Property 'x' is missing in type 'S' but required in type 'T'.
      return sayMissing(text);
    case 2554: // Expected 1 arguments, but got 2.
    case 2555:
      return { message: lowerFirst(text.replace(/\.$/, "").replace(/\b1 arguments/, "1 argument")) };
    default:
      // 'string' only refers to a type, but is being used as a value here.
      if (number === 2693 && /^'[a-z]+'/.test(text)) return sayUnknown(text);
      return { message: truncate(lowerFirst(text.replace(/\s+/g, " ").replace(/\.$/, "").replaceAll("'", '"')), 200) };
  }
}

function sayUnknown(text: string): Said {
  return {
    message: `there is no ${quoted(text)} in this file`,
    fix: suggested(text) ?? "import it, or correct its name",
  };
}

function sayNoMember(text: string): Said {
  const [, name = "", type = ""] = /^Property '(.*?)' does not exist on type '([^]*?)'\.(?: |$)/.exec(text) ?? [];
  const owner = typeName(type);
  const fix = suggested(text);
  if (owner === "Properties") return { message: `the event has no property ${quote(name)}`, fix };
  if (owner === "TraitsModel") return { message: `there is no trait ${quote(name)}`, fix };
  if (/^typeof import\(/.test(type)) return { message: `the module exports no ${quote(name)}`, fix };
  return { message: `there is no ${quote(name)} on ${inWords(type)}`, fix: fix ?? "correct the name, or remove it" };
}

function sayNoExport(text: string): Said {
  const [module = "", name = ""] = [...text.matchAll(/'(?:"([^"]*)"|([^']*))'/g)].map(
    ([, file, member]) => file ?? member,
  );
  return { code: "NO_SUCH_EXPORT", message: `${quote(module)} exports no ${quote(name)}`, fix: suggested(text) };
}

function sayMismatch(text: string): Said {
  const [, source = "", target = ""] =
    /[Tt]ype '([^]*?)' is not assignable to (?:parameter of )?type '([^]*?)'\.(?: |$)/.exec(text) ?? [];
  const duration = inWords(target) === inWords("Duration") ? durationFix(unquoted(source)) : undefined;
  if (duration !== undefined) return unlike(source, target, duration);
  const choices = choicesOf(target);
  const meant = choicesOf(source).length === 1 ? nearest(unquoted(source), choices.map(unquoted)) : undefined;
  return unlike(source, target, suggested(text) ?? (meant === undefined ? undefined : write(JSON.stringify(meant))));
}

function unlike(source: string, target: string, fix = remedy(source, target)): Said {
  const expected = isFunction(target) ? "a function" : inWords(target);
  return { message: `expected ${expected}, but this is ${inWords(source)}`, fix };
}

/** The members that tell the language's values apart have symbols for names, which no author writes. */
function sayMissing(text: string): Said {
  const [, source, target] =
    /^Property '\[[^]*?\]' is missing in type '([^]*)' but required in type '([^]*)'\.$/.exec(text) ?? [];
  if (source !== undefined && target !== undefined) return unlike(source, target);
  return { message: `${quoted(text)} is missing`, fix: `add ${quoted(text)}` };
}

function suggested(text: string): string | undefined {
  const [, word] = /Did you mean (?:to write |the static member |to use )?'([^']+)'/.exec(text) ?? [];
  return word === undefined ? undefined : write(word);
}

function write(word: string): string {
  return `write ${word.startsWith('"') ? word : quote(word)}`;
}

/** The first part of the message that stands in single quotation marks, in double ones. */
function quoted(text: string): string {
  const part = /'([^']*)'/.exec(text)?.[1] ?? "";
  return quote(part.replace(/^"(.*)"$/, "$1"));
}

function unquoted(choice: string): string {
  return choice.replace(/^"(.*)"$/, "$1");
}

function lowerFirst(text: string): string {
  return /^[A-Z][a-z ]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}
