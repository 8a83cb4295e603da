/** The error of a port that another program listens on. */
export class PortTakenError extends Error {
  constructor(readonly port: number) {
    super(`the port ${port} is taken`);
  }
}
