import { decodeHTML } from "entities";

/** The answer to a browser's request. Redirections are not followed. */
export interface Visited {
  /** The requested path and query. */
  path: string;
  status: number;
  headers: Headers;
  html: string;
  /** The visible text. */
  text: string;
  /** The target of a redirection, as a path of the site: `/login?next=…`; null if there is none. */
  location: string | null;
}

interface Visit {
  headers?: Record<string, string>;
  /** A form's fields, or a raw body. */
  body?: Readonly<Record<string, string>> | string;
}

/** A minimal browser without scripts for sign-in: it keeps cookies and submits the forms of pages. */
export class Browser {
  readonly cookies = new Map<string, string>();
  /** The header Set-Cookie of the latest answer. */
  setCookies: string[] = [];

  /** `origin` is what the browser takes for the site's origin; `headers` are sent with every request. */
  constructor(
    private readonly url: string,
    private readonly origin: string = url,
    private readonly headers: Record<string, string> = {},
  ) {}

  /** Opens a page. Follows the redirection of a one-time link to the same page without the secret. */
  async get(path: string, visit: Visit = {}): Promise<Visited> {
    const answer = await this.send("GET", path, visit);
    const [page] = path.split("?token=");
    return answer.location === page && page !== path ? this.send("GET", page, visit) : answer;
  }

  /** Posts like a form of the site. */
  post(path: string, body: Visit["body"], headers: Record<string, string> = {}): Promise<Visited> {
    const common = { Origin: this.origin, "Content-Type": "application/x-www-form-urlencoded" };
    return this.send("POST", path, { body: body ?? "", headers: { ...common, ...headers } });
  }

  /** Fills in and sends the one form of a page, or the one of `formOf`. */
  submit(page: Visited, fields: Readonly<Record<string, string>> = {}, which?: string): Promise<Visited> {
    const form = formOf(page.html, which);
    const { pathname, search } = new URL(form.action, this.origin + page.path);
    return this.post(pathname + search, { ...form.hidden, ...fields });
  }

  /** Opens a page, fills in its one form and sends it. */
  async fill(path: string, fields: Readonly<Record<string, string>> = {}): Promise<Visited> {
    return this.submit(await this.get(path), fields);
  }

  /** The token that the forms of a page carry. */
  async formToken(path = "/login"): Promise<string> {
    const { html } = await this.get(path);
    const token = /name="form_token" value="([^"]*)"/.exec(html)?.[1];
    if (token === undefined) throw new Error(`the page has no form: ${html}`);
    return token;
  }

  async send(method: string, path: string, { headers, body }: Visit = {}): Promise<Visited> {
    const response = await fetch(this.url + path, {
      method,
      redirect: "manual",
      headers: { "X-Request-ID": "req", ...this.#cookieHeader(), ...this.headers, ...headers },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : new URLSearchParams(body).toString() }),
    });
    this.setCookies = response.headers.getSetCookie();
    for (const cookie of this.setCookies) this.#keep(cookie);
    const location = response.headers.get("Location");
    const html = await response.text();
    return {
      path,
      status: response.status,
      headers: response.headers,
      html,
      text: textOf(html),
      location: location === null ? null : siteAddress(new URL(location, this.origin + path), this.origin),
    };
  }

  #cookieHeader(): Record<string, string> {
    const pairs = [...this.cookies].map(([name, value]) => `${name}=${value}`);
    return pairs.length === 0 ? {} : { Cookie: pairs.join("; ") };
  }

  #keep(cookie: string): void {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!;
    if (value === "" || /expires=Thu, 01 Jan 1970/.test(cookie)) this.cookies.delete(name!);
    else this.cookies.set(name!, value!);
  }
}

/** The path and query of a URL of the site; otherwise the whole URL. */
function siteAddress(url: URL, origin: string): string {
  return url.origin === new URL(origin).origin ? url.pathname + url.search : url.href;
}

export interface Form {
  action: string;
  hidden: Record<string, string>;
  /** The names of the fields to fill in. */
  fields: string[];
}

/** The one form of a page, or the one whose action is the page `which` or whose field `as` has this value. */
export function formOf(html: string, which?: string): Form {
  const forms = formsOf(html).filter(
    ({ action, hidden }) => which === undefined || action.split("?")[0] === which || hidden["as"] === which,
  );
  if (forms.length !== 1) throw new Error(`the page has ${forms.length} such forms: ${html}`);
  return forms[0]!;
}

/** The forms of a page that change something. */
export function formsOf(html: string): Form[] {
  return [...html.matchAll(/<form\s([^>]*)>(.*?)<\/form>/gs)].flatMap(([, attributes, content]) => {
    const { method, action } = attributesOf(attributes!);
    if (method !== "post") return [];
    const inputs = [...content!.matchAll(/<input\s([^>]*)>/g)].map(([, attributes]) => attributesOf(attributes!));
    const hidden = inputs.filter(({ type }) => type === "hidden").map(({ name, value }) => [name!, value!]);
    return {
      action: action!,
      hidden: Object.fromEntries(hidden) as Record<string, string>,
      fields: inputs.flatMap(({ type, name }) => (type !== "hidden" && name !== undefined ? [name] : [])),
    };
  });
}

/** The attributes in the text of a tag. */
function attributesOf(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/([\w-]+)(?:="([^"]*)")?/g)].map(([, name, value]) => [name!, decodeHTML(value ?? "")]),
  );
}

/** The visible text of a page's `main`, in one line. */
export function textOf(html: string): string {
  const main = /<main[^>]*>(.*)<\/main>/s.exec(html)?.[1] ?? html;
  return decodeHTML(main.replace(/<(?:[^>"]|"[^"]*")*>/g, " "))
    .replace(/\s+/g, " ")
    .trim();
}
