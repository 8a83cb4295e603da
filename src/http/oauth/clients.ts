/** The programs that may ask for tokens, by their client_id, and what people are told they are. All are public: none has a secret. */
const CLIENTS: Readonly<Record<string, string>> = {
  "svc-cli": "svc, the command line of this service",
};

export function isClient(clientId: string): boolean {
  return Object.hasOwn(CLIENTS, clientId);
}

/** For people who decide about it. */
export function clientName(clientId: string): string {
  return CLIENTS[clientId] ?? clientId;
}
