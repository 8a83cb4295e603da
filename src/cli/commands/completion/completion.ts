import { defineCommand } from "../../core/command.js";

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

export default defineCommand({
  args: { shell: { describe: "The shell", choices: SHELLS } },
  examples: [
    ["source <(svc completion bash)", "To have it in every shell: a line of ~/.bashrc"],
    ["source <(svc completion zsh)", "A line of ~/.zshrc, after compinit"],
    ["svc completion fish > ~/.config/fish/completions/svc.fish", "Once, and again after an update of svc"],
  ],
  async handler({ out, registry }, { shell }) {
    const { places, scripts } = await import("./script.js");
    const script = scripts[shell as Shell](await places(registry));
    out.result({ document: { shell, script } }, () => script);
  },
});
