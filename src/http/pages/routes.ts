import type { Route } from "../route.js";
import type { PageDeps } from "./deps.js";
import { deviceDecision, devicePage } from "./device.js";
import { invitationRoutes } from "./invitation.js";
import { Passwords } from "./passwords.js";
import { setPasswordRoutes } from "./set-password.js";
import { signInRoutes } from "./sign-in.js";

/** The pages for people at a browser. */
export function pageRoutes(deps: PageDeps): Route[] {
  const passwords = new Passwords();
  const routes = [
    ...signInRoutes(passwords),
    ...invitationRoutes(passwords),
    ...setPasswordRoutes(passwords),
    devicePage,
    deviceDecision,
  ];
  return routes.map((route) => route(deps));
}
