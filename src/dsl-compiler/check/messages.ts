import type ts from "typescript";
import { list, quote } from "../../model/snapshot/problem.js";
import { nearest } from "../../model/snapshot/suggestion.js";
import { type Diagnostic, diagnostic, rangeOf } from "../diagnostics/diagnostic.js";
import { fixFor } from "../diagnostics/fixes.js";
import { EXPECTED_VALUES } from "../diagnostics/shape-fixes.js";
import { ASK_WITHOUT_SIGNAL, durationFix } from "./other-names.js";
import { byNames, choicesOf, truncate, inWords, isFunction, isList, typeName, withoutLazy } from "./words.js";

/** Translates errors of TypeScript into the words of models, with a fix. */

const TO_COMPARE = "compare it, such as with .atLeast(3)";

/** How to turn values that are almost conditions into conditions, by type. */
const UNFINISHED = byNames([
  ["Sequence", 'add .within("7d"), or how long the sequence may take'],
  ["Quantity ScopedQuantity WindowedQuantity Calculated Comparisons Days", TO_COMPARE],
  ["StateTime", 'compare it, with .atLeast("60d")'],
  ["EventModel Occurrences", "ask about the event, such as with .happened()"],
  ["SegmentModel ManualSegment", "ask about the segment, with .has()"],
  ["SignalModel ManualSignal", ASK_WITHOUT_SIGNAL],
  [
    "Trigger",
    'ask what holds, not what happens: .has() of a segment, .is("…") of the lifecycle or a journey, .band.is("…") of the health; no condition asks about a signal',
  ],
]);

/** How to turn a trait, a property or a latest value into a condition, by the type of its field. */
const UNASKED = byNames([
  ["String Text Choice", 'ask for its value, such as with .is("…")'],
  ["Number", TO_COMPARE],
  ["Boolean", "ask for its value, with .is(true)"],
  ["Date", 'compare it, such as with .before("2026-01-31"), or with .exists()'],
  ["Array List", 'ask for an item of it, such as with .contains("…")'],
]);

/** Types, besides traits that are numbers, that `scale` and `steps` turn into a score. */
const SCORED = new Set(["Quantity", "ScopedQuantity", "WindowedQuantity", "Calculated", "Days"]);

/** Types of which a rule has one. */
const ONE_OF_RULE = new Set(["Occasion", "Trigger", "Action"]);

/** What to give if one of these types is expected. */
const EXPECTED = byNames<string>([
  ["Selection", EXPECTED_VALUES.of],
  ["Score", EXPECTED_VALUES.score],
  ["Occasion Trigger", EXPECTED_VALUES.on],
  ["Action", EXPECTED_VALUES.then],
  ["Measure", EXPECTED_VALUES.per],
  ["Start", EXPECTED_VALUES.since],
  ["AnyField", EXPECTED_VALUES.properties],
  ["ScalarField", EXPECTED_VALUES.items],
  ["StepModel", 'write step("…", condition)'],
  ["StateDefinition", "write { to: { …: condition } } with the states that it leads to"],
  ["EmissionText", 'write { message: "…" }'],
]);

const AS_LIST = "write a list: [ … ]";

/** Texts and numbers, of which methods such as `in` take one or more. */
const LISTED = /^(?:string$|number$|")/;

/** The two kinds of conditions, in words: `where` asks about one event, everything else about the customer. */
const CONDITIONS = new Set(["a condition", "a condition on the event's properties"]);
const OUTSIDE_OF_WHERE =
  "write all(event.where((p) => …).happened(), …), with what is asked about the customer outside of where";

/** The fix for a value of the type `source` where the type `target` is expected, both as the checker prints them. */
function remedy(source: string, target: string): string {
  const given = typeName(source) ?? "";
  const expected = typeName(withoutLazy(target)) ?? "";
  const isCondition = inWords(target) === "a condition";
  const [, field = ""] =
    /^(?:(?:TraitOperand|(?:Scoped)?Latest)<(\w+?)Field\b|(\w+)Operand<)/.exec(source)?.filter(Boolean) ?? [];
  const asked = isCondition ? (UNFINISHED.get(given) ?? UNASKED.get(field)) : undefined;
  if (asked !== undefined) return asked;
  if (CONDITIONS.has(inWords(source)) && CONDITIONS.has(inWords(target))) return OUTSIDE_OF_WHERE;
  if (expected === "Score" && (SCORED.has(given) || field === "Number")) return "score it, with scale(…) or steps(…)";
  if (source.endsWith("[]") && ONE_OF_RULE.has(expected)) return "write a rule for each of them";
  if (isFunction(target)) return /=> PropertyCondition$/.test(target) ? EXPECTED_VALUES.where : "give a function";
  if (isFunction(source)) return "call it, with ( and ) after its name";
  if (isList(target) && !isList(source)) return AS_LIST;
  if (isList(source) && isCondition) return "write all(…, …) or any(…, …), without [ and ]";
  if (isList(source) && LISTED.test(target)) return "write what is in the list, without [ and ]";
  return EXPECTED.get(expected) ?? `give ${inWords(target)}`;
}

/** A translated error: our own code if one fits, the message, and the fix if there is one. */
interface Translation {
  code?: string;
  message: string;
  fix?: string | undefined;
}

const FUNCTION_OF_PROPERTIES: Translation = {
  message: "expected a function, but this is an object",
  fix: EXPECTED_VALUES.where,
};

/** "No overload matches this call", which does not say what was expected. */
const NO_OVERLOAD = 2769;

/** The diagnostic of a TypeScript error in `file`. */
export function typeDiagnostic(error: ts.Diagnostic, file: ts.SourceFile, directory: string): Diagnostic {
  const start = error.start ?? 0;
  const range = rangeOf(file, start, start + (error.length ?? 0), directory);
  const { code = "TYPE_ERROR", message, fix } = inPlainWords(error);
  return { ...diagnostic("error", code, message, range, fix), typescript: `TS${error.code}` };
}

function inPlainWords(error: ts.Diagnostic): Translation {
  if (typeof error.messageText === "string") return translate(error.code, error.messageText);
  const head = ofFirstOverload(error.messageText);
  const translated = translate(head.code, head.messageText);
  // The head names the given and the expected type. If these have no short names, the end of the chain says how they differ.
  const cause = deepest(head);
  const isShort = translated.message.length <= 100 && !/[…{]/.test(translated.message);
  return cause === head || isShort ? translated : translate(cause.code, cause.messageText);
}

/** The code of an error; of a call that matches no overload, that of the first one's error. */
export function typeErrorCode({ code, messageText }: ts.Diagnostic): number {
  return typeof messageText === "string" ? code : ofFirstOverload(messageText).code;
}

/** The error of the first overload of a call that matches none, and any other error itself. */
function ofFirstOverload(chain: ts.DiagnosticMessageChain): ts.DiagnosticMessageChain {
  return (chain.code === NO_OVERLOAD ? chain.next?.[0]?.next?.[0] : undefined) ?? chain;
}

/** The innermost cause. */
function deepest(chain: ts.DiagnosticMessageChain): ts.DiagnosticMessageChain {
  const [next] = chain.next ?? [];
  return next ? deepest(next) : chain;
}

/** Translates each kind of message that a model's author meets. The numbers are TypeScript's error codes. */
function translate(number: number, text: string): Translation {
  switch (number) {
    case 2339: // Property 'x' does not exist on type 'T'.
    case 2550:
    case 2551: // … Did you mean 'y'?
      return unknownMember(text);
    case 2353: // Object literal may only specify known properties, and 'x' does not exist in type 'T'.
    case 2561: // … but 'x' does not exist in type 'T'. Did you mean to write 'y'?
      if (/ in type '[^]*=> PropertyCondition'/.test(text)) return FUNCTION_OF_PROPERTIES;
      if (/ in type '[^]*\[\]'/.test(text)) return { message: "expected a list, but this is an object", fix: AS_LIST };
      return { message: `${quoted(text)} is not known here`, fix: suggested(text) ?? "remove it, or correct its name" };
    case 2304: // Cannot find name 'x'.
    case 2503:
    case 2552: // … Did you mean 'y'?
    case 2663:
    case 18004:
      return unknownName(text);
    case 2305: // Module '"./x.js"' has no exported member 'y'.
    case 2459:
    case 2460:
    case 2614:
    case 2724: // … Did you mean 'z'?
      return missingExport(text);
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
      return mismatch(text);
    case 2739: // Type 'S' is missing the following properties from type 'T': x, y
    case 2740: // … x, y, and 3 more.
    case 2741: // Property 'x' is missing in type 'S' but required in type 'T'.
      return missingMember(text);
    case 2559: // Type 'S' has no properties in common with type 'T'.
      return nothingInCommon(text);
    case 2448: // Block-scoped variable 'x' used before its declaration.
      return usedAbove(text);
    case 2554: // Expected 1 arguments, but got 2.
    case 2555:
      return { message: lowerFirst(text.replace(/\.$/, "").replace(/\b1 arguments/, "1 argument")) };
    default:
      // 'string' only refers to a type, but is being used as a value here.
      if (number === 2693 && /^'[a-z]+'/.test(text)) return unknownName(text);
      return { message: truncate(lowerFirst(text.replace(/\s+/g, " ").replace(/\.$/, "").replaceAll("'", '"')), 200) };
  }
}

function unknownName(text: string): Translation {
  return {
    message: `there is no ${quoted(text)} in this file`,
    fix: suggested(text) ?? "import it, or correct its name",
  };
}

function unknownMember(text: string): Translation {
  const [, name = "", type = ""] = /^Property '(.*?)' does not exist on type '([^]*?)'\.(?: |$)/.exec(text) ?? [];
  const owner = typeName(type);
  const fix = suggested(text);
  if (owner === "Properties") return { message: `the event has no property ${quote(name)}`, fix };
  if (owner === "TraitsModel") return { message: `there is no trait ${quote(name)}`, fix };
  if (/^typeof import\(/.test(type)) return { message: `the module exports no ${quote(name)}`, fix };
  return { message: `there is no ${quote(name)} on ${inWords(type)}`, fix: fix ?? "correct the name, or remove it" };
}

function missingExport(text: string): Translation {
  const [module = "", name = ""] = [...text.matchAll(/'(?:"([^"]*)"|([^']*))'/g)].map(
    ([, file, member]) => file ?? member,
  );
  return { code: "NO_SUCH_EXPORT", message: `${quote(module)} exports no ${quote(name)}`, fix: suggested(text) };
}

function mismatch(text: string): Translation {
  const [, source = "", target = ""] =
    /[Tt]ype '([^]*?)' is not assignable to (?:parameter of )?type '([^]*?)'\.(?: |$)/.exec(text) ?? [];
  const duration = inWords(target) === inWords("Duration") ? durationFix(unquoted(source)) : undefined;
  if (duration !== undefined) return wrongType(source, target, duration);
  const choices = choicesOf(target);
  const meant = choicesOf(source).length === 1 ? nearest(unquoted(source), choices.map(unquoted)) : undefined;
  return wrongType(source, target, suggested(text) ?? (meant === undefined ? undefined : write(JSON.stringify(meant))));
}

/** The types that are made for certain properties: one for a certain event is none for events of any properties. */
const OF_PROPERTIES = /^(EventModel|Occurrences)</;

/** What is given in place of a list, by the name of its type. */
const GENERATORS: Readonly<Record<string, Translation>> = {
  Generator: {
    message: "expected a list, but this is a generator",
    fix: "write a list of what it gives: [...parts()]",
  },
  AsyncGenerator: {
    message: "expected a list, but this is an asynchronous generator",
    fix: "collect what it gives in a list: for await (const part of parts()) list.push(part)",
  },
};

function wrongType(source: string, target: string, fix = remedy(source, target)): Translation {
  const generator = isList(target) || target.startsWith("PartsOf<") ? GENERATORS[typeName(source) ?? ""] : undefined;
  if (generator) return generator;
  const [, made] = OF_PROPERTIES.exec(source) ?? [];
  if (made !== undefined && OF_PROPERTIES.exec(target)?.[1] === made) {
    const whose = `<F extends Fields>(event: ${made}<F>)`;
    return { message: "expected an event of other properties", fix: `write a function of any event with ${whose}` };
  }
  if (isFunction(source) && isFunction(target)) {
    const [returned, wanted] = [source, target].map((type) => inWords(type.replace(/^[^]*\) => /, "")));
    return { message: `expected a function that returns ${wanted}, but this one returns ${returned}`, fix };
  }
  const expected = isFunction(target) ? "a function" : inWords(target);
  return { message: `expected ${expected}, but this is ${inWords(source)}`, fix };
}

/** A missing member whose name is a symbol means a value of the wrong type: such members tell the language's types apart. */
function missingMember(text: string): Translation {
  const [, given = "", needed = "", names] =
    /^Type '([^]*)' is missing the following properties from type '([^]*)': (.*?)(?:, and .*)?$/.exec(text) ?? [];
  if (names?.includes("[") || isList(needed)) return wrongType(given, needed);
  if (names !== undefined) return { message: `${list(names.split(", "))} are missing`, fix: "add them" };
  const [, source, target] =
    /^Property '\[[^]*?\]' is missing in type '([^]*)' but required in type '([^]*)'\.$/.exec(text) ?? [];
  if (source !== undefined && target !== undefined) return wrongType(source, target);
  return { message: `${quoted(text)} is missing`, fix: `add ${quoted(text)}` };
}

function nothingInCommon(text: string): Translation {
  const [, given = "", needed = ""] =
    /^Type '([^]*)' has no properties in common with type '([^]*)'\.$/.exec(text) ?? [];
  return wrongType(given, needed);
}

function usedAbove(text: string): Translation {
  const name = quoted(text);
  const fix = `move the declaration up; where a whole condition is expected, a function that is called later also helps: () => ${unquoted(name)}.…`;
  return { message: `${name} is used above its declaration`, fix };
}

function suggested(text: string): string | undefined {
  const [, word] = /Did you mean (?:to write |the static member |to use )?'([^']+)'/.exec(text) ?? [];
  return word === undefined ? undefined : write(word);
}

function write(word: string): string {
  return `write ${word.startsWith('"') ? word : quote(word)}`;
}

/** The first part of the message in single quotation marks, in double ones instead. */
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
