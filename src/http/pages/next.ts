/** The pages that ask to sign in first, with the one parameter that each may have. */
const PAGES: readonly { path: string; parameter: string; form: RegExp }[] = [
  { path: "/device", parameter: "user_code", form: /^[A-Za-z0-9]{4}-?[A-Za-z0-9]{4}$/ },
  { path: "/invitation", parameter: "token", form: /^svc_link_[0-9a-f]{48}$/ },
];

/**
 * Where to go after signing in: one of a few pages of ours, written anew from what was understood of it. Null for everything else, so
 * that no link to the sign-in page can lead anybody away.
 */
export function nextAfterSignIn(value: string | undefined): string | null {
  for (const { path, parameter, form } of PAGES) {
    if (value === path) return path;
    const prefix = `${path}?${parameter}=`;
    if (value?.startsWith(prefix) && form.test(value.slice(prefix.length))) return value;
  }
  return null;
}

/** The address of the sign-in page that leads to another page afterwards. */
export function signInTo(next: string): string {
  return `/login?next=${encodeURIComponent(next)}`;
}
