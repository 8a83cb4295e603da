/** The parts of the API, in the order in which the document lists them, with the beginnings of their paths. */
const TAGS: readonly { name: string; description: string; paths: readonly RegExp[] }[] = [
  { name: "Ingestion", description: "What backends send: events and traits.", paths: [] },
  { name: "Sign-in", description: "How programs sign people in: OAuth's device authorization.", paths: [] },
  { name: "Account", description: "Who acts, and for whom.", paths: [/^\/whoami$/, /^\/organizations$/] },
  { name: "Organization", description: "Its people, invitations, tokens and audit log.", paths: [/^\/organization\//] },
  {
    name: "Projects",
    description: "Projects and their environments.",
    paths: [/^\/projects$/, /^\/projects\/:project$/, /\/overview$/],
  },
  { name: "API keys", description: "Keys of ingestion: each is of one environment.", paths: [/\/keys\b/] },
  {
    name: "Configuration versions",
    description: "Immutable versions of the model, and which of them is active where.",
    paths: [/\/config-versions\b/, /\/config-diff$/, /\/activations$/],
  },
  {
    name: "Recomputes",
    description: "History read again: recomputes, dry runs, and previews of models that are not deployed.",
    paths: [/\/recomputes\b/, /\/previews\b/],
  },
  { name: "Customers", description: "What is known and derived of customers.", paths: [/\/customers\b/] },
  { name: "Events", description: "What was accepted, as a list and as a stream.", paths: [/\/events\b/] },
  { name: "Rules", description: "The log of what rules did.", paths: [/\/rule-executions$/] },
  { name: "Segments", description: "Segments and their members.", paths: [/\/segments\b/] },
  {
    name: "Diagnostics",
    description: "What is wrong with configuration or data.",
    paths: [/\/diagnostics$/, /\/schema-violations$/],
  },
  {
    name: "Webhooks",
    description: "What evaluation emits, its receivers, and deliveries.",
    paths: [/\/webhooks\b/, /\/emissions\b/],
  },
  { name: "AI", description: "What a language model makes of facts.", paths: [/\/ai\//] },
  { name: "Service", description: "Probes and figures for infrastructure, and this document.", paths: [] },
];

/** As the document lists them. */
export const tags: readonly { name: string; description: string }[] = TAGS.map(({ name, description }) => ({
  name,
  description,
}));

/** The part that an administrative path belongs to. */
export function tagOf(path: string): string {
  const tag = TAGS.find(({ paths }) => paths.some((pattern) => pattern.test(path)));
  if (tag === undefined) throw new Error(`${path} belongs to no tag of the document`);
  return tag.name;
}
