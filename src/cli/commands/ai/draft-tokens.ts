import type { SyntaxKind } from "typescript";

import { UNPRINTABLE } from "../../output/text.js";
import { DEPTH_MAX, type Found, LANGUAGE_ONLY, type Ts } from "./draft-language.js";

/** What cannot be shown, but for tabs and the ends of lines. */
const NOT_IN_SOURCE = new RegExp(`(?!\\t|\\r?\\n)${UNPRINTABLE.source}`, "g");

/** Words to compilers: they would leave mistakes untold, or have other files read. */
const INSTRUCTION = /^\/\/\/|^\/[/*][#@]|@ts-|^#!/;

/**
 * What is wrong with a draft, word by word, before anybody reads sentences: a text of these words alone cannot keep a parser busy for
 * long, and says little that is not a model.
 */
export function tokenMistakes(ts: Ts, source: string): Found[] {
  const found: Found[] = characterMistakes(source);
  const isSound = allowedKinds(ts);
  const scanner = ts.createScanner(ts.ScriptTarget.Latest, false, ts.LanguageVariant.Standard, source);
  let depth = 0;
  let before: SyntaxKind | undefined;
  for (let kind = scanner.scan(); kind !== ts.SyntaxKind.EndOfFileToken; kind = scanner.scan()) {
    const [start, end] = [scanner.getTokenStart(), scanner.getTokenEnd()];
    const text = scanner.getTokenText();
    const refuse = (message: string, fix = LANGUAGE_ONLY) =>
      found.push({ start, end, code: "DRAFT_NOT_ALLOWED", message, fix });
    if (kind <= ts.SyntaxKind.LastTriviaToken) {
      const isComment = kind !== ts.SyntaxKind.NewLineTrivia && kind !== ts.SyntaxKind.WhitespaceTrivia;
      if (isComment && INSTRUCTION.test(text)) refuse("the comment speaks to a compiler", "say it to readers instead");
      continue;
    }
    if (opens(ts, kind)) depth++;
    if (closes(ts, kind)) depth--;
    if (depth > DEPTH_MAX) return [...found, tooDeep(start, end)];
    if (scanner.isUnterminated()) {
      const fix = "give it its end";
      return [...found, { start, end, code: "SYNTAX_ERROR", message: "this text is not ended", fix }];
    }
    if (isWord(ts, kind) && text.includes("\\")) refuse("a name is written with an escape", "write its letters");
    // Words of the language are fine as names of members: `.in(…)`, `for: "7d"`.
    else if (!isSound(kind) && !(isWord(ts, kind) && (before === ts.SyntaxKind.DotToken || isKey(ts, scanner)))) {
      refuse(`${shown(text)} has no place in a draft`);
    }
    before = kind;
  }
  return found;
}

/** The mistake of what is nested too deeply. */
export function tooDeep(start: number, end: number): Found {
  const message = `parts are within each other more than ${DEPTH_MAX} times`;
  return { start, end, code: "DRAFT_TOO_DEEP", message, fix: "name parts by const, and use the names" };
}

/** Characters that show nothing, or reorder what is shown: what people read must be what is compiled. */
function characterMistakes(source: string): Found[] {
  return [...source.matchAll(NOT_IN_SOURCE)].map(({ index, 0: character }) => ({
    start: index,
    end: index + character.length,
    code: "DRAFT_NOT_ALLOWED",
    message: `the character U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")} cannot be seen`,
    fix: "remove it",
  }));
}

function allowedKinds(ts: Ts): (kind: SyntaxKind) => boolean {
  const { SyntaxKind: Kind } = ts;
  const allowed = new Set([
    ...[Kind.OpenBraceToken, Kind.CloseBraceToken, Kind.OpenParenToken, Kind.CloseParenToken],
    ...[Kind.OpenBracketToken, Kind.CloseBracketToken, Kind.DotToken, Kind.CommaToken, Kind.SemicolonToken],
    ...[Kind.ColonToken, Kind.EqualsToken, Kind.EqualsGreaterThanToken, Kind.MinusToken],
    ...[Kind.StringLiteral, Kind.NoSubstitutionTemplateLiteral, Kind.NumericLiteral, Kind.Identifier],
    ...[Kind.ImportKeyword, Kind.ConstKeyword, Kind.ExportKeyword, Kind.DefaultKeyword],
    ...[Kind.TrueKeyword, Kind.FalseKeyword],
  ]);
  // Words that are reserved nowhere, as `string`, `any` and `from`, are names like others.
  return (kind) => allowed.has(kind) || (kind > Kind.LastFutureReservedWord && kind <= Kind.LastKeyword);
}

function isWord(ts: Ts, kind: SyntaxKind): boolean {
  return kind === ts.SyntaxKind.Identifier || (kind >= ts.SyntaxKind.FirstKeyword && kind <= ts.SyntaxKind.LastKeyword);
}

/** Whether a colon follows. */
function isKey(ts: Ts, scanner: ReturnType<Ts["createScanner"]>): boolean {
  return scanner.lookAhead(() => {
    let kind = scanner.scan();
    while (kind <= ts.SyntaxKind.LastTriviaToken && kind !== ts.SyntaxKind.EndOfFileToken) kind = scanner.scan();
    return kind === ts.SyntaxKind.ColonToken;
  });
}

function opens({ SyntaxKind: Kind }: Ts, kind: SyntaxKind): boolean {
  return kind === Kind.OpenBraceToken || kind === Kind.OpenParenToken || kind === Kind.OpenBracketToken;
}

function closes({ SyntaxKind: Kind }: Ts, kind: SyntaxKind): boolean {
  return kind === Kind.CloseBraceToken || kind === Kind.CloseParenToken || kind === Kind.CloseBracketToken;
}

const SHOWN_MAX = 40;

function shown(text: string): string {
  return JSON.stringify(text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text);
}
