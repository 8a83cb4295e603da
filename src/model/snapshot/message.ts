/** A part of a message: literal text, or a placeholder by its name. */
export type MessagePart = { text: string } | { placeholder: string };

/** Doubled braces are literal ones. */
const PART = /\{\{|\}\}|\{([^{}]+)\}|[^{}]+|[{}]/g;

/** The parts of a message such as `{name} has {seats} seats`; null if a brace is unmatched, or a placeholder without a name. */
export function messageParts(template: string): MessagePart[] | null {
  const parts: MessagePart[] = [];
  for (const [matched, placeholder] of template.matchAll(PART)) {
    if (matched === "{" || matched === "}") return null;
    if (placeholder !== undefined) parts.push({ placeholder });
    else parts.push({ text: matched === "{{" ? "{" : matched === "}}" ? "}" : matched });
  }
  return parts;
}
