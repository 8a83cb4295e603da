/** A part of a message: text as it is, or a placeholder by its name. */
export type MessagePart = { text: string } | { placeholder: string };

/** Braces are doubled to stand for themselves. */
const PART = /\{\{|\}\}|\{([^{}]*)\}|[^{}]+|[{}]/g;

/** The parts of a message such as `{name} has {seats} seats`; null where a brace stands alone. */
export function messageParts(template: string): MessagePart[] | null {
  const parts: MessagePart[] = [];
  for (const [matched, placeholder] of template.matchAll(PART)) {
    if (matched === "{" || matched === "}") return null;
    if (placeholder !== undefined) parts.push({ placeholder });
    else parts.push({ text: matched === "{{" ? "{" : matched === "}}" ? "}" : matched });
  }
  return parts;
}
