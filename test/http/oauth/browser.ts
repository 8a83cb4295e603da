import { Browser as PlainBrowser, type Visited } from "../../support/browser.js";

/** A browser that sends arbitrary fields, with the form token of the last page shown. */
export class Browser {
  readonly #browser: PlainBrowser;
  #token = "";

  /** @param session the value of the session's cookie; signed out without one. */
  constructor(url: string, session?: string) {
    this.#browser = new PlainBrowser(url);
    if (session !== undefined) this.#browser.cookies.set("svc_session", session);
  }

  async get(path: string) {
    return this.#show(await this.#browser.get(path));
  }

  /** Sends the form of /device. */
  async submit(fields: Record<string, string>) {
    return this.#show(await this.#browser.post("/device", { form_token: this.#token, ...fields }));
  }

  #show(page: Visited) {
    this.#token = /name="form_token" value="([^"]+)"/.exec(page.html)?.[1] ?? this.#token;
    return page;
  }
}
