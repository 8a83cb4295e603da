import { customerPage } from "./pages/customer.js";
import { customersPage } from "./pages/customers.js";
import { todayPage } from "./pages/today.js";

/** The pages of the console, in the order of the navigation; the first is where one arrives. */
export const PAGES = [todayPage, customersPage, customerPage];
