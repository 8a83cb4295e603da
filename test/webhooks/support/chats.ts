import type { Answer } from "./receiver.js";

const parsed = (body: string): unknown => {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
};

/** Answers like an incoming webhook of Slack: 200 `ok`, or 400 with the problem. */
export const asSlack: Answer = (response, { body }) => {
  const payload = parsed(body) as { text?: unknown } | null | undefined;
  if (typeof payload !== "object" || payload === null) response.writeHead(400).end("invalid_payload");
  else if (typeof payload.text !== "string" || payload.text === "") response.writeHead(400).end("no_text");
  else if (payload.text.length > 40_000) response.writeHead(400).end("msg_too_long");
  else response.writeHead(200).end("ok");
};

/** Answers like a webhook workflow of Microsoft Teams: 202 for a message of adaptive cards of at most 28 KB, else 400. */
export const asTeams: Answer = (response, { body }) => {
  const message = parsed(body) as { type?: string; attachments?: Record<string, unknown>[] } | undefined;
  const cards = message?.type === "message" && Array.isArray(message.attachments) ? message.attachments : [];
  const isCard = ({ contentType, content }: Record<string, unknown>) =>
    contentType === "application/vnd.microsoft.card.adaptive" && isAdaptiveCard(content as Node);
  const isTaken = cards.length > 0 && cards.every(isCard) && Buffer.byteLength(body, "utf16le") <= 28 * 1024;
  response.writeHead(isTaken ? 202 : 400).end();
};

type Node = Record<string, unknown>;

function isAdaptiveCard({ type, version, body, actions }: Node): boolean {
  const isText = (node: Node) =>
    node.type === "RichTextBlock" &&
    (node.inlines as Node[]).every((run) => run.type === "TextRun" && typeof run.text === "string" && run.text !== "");
  const isLink = (node: Node) => node.type === "Action.OpenUrl" && URL.canParse(node.url as string);
  const isVersion = typeof version === "string" && /^1\.[2-5]$/.test(version);
  return type === "AdaptiveCard" && isVersion && (body as Node[]).every(isText) && (actions as Node[]).every(isLink);
}

/** A text as shown in Slack: its references are marked as «…», and escapes are resolved. */
export function readInSlack(text: string): string {
  return text
    .replace(
      /<([^<>|]*)(?:\|([^<>]*))?>/g,
      (_, target: string, label?: string) => `«${target}${label ? ` ${label}` : ""}»`,
    )
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}
