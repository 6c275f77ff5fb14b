/** Register an element unless the page has it already, for example from a second copy of the script. */
export function define(name: string, element: CustomElementConstructor): void {
  if (!customElements.get(name)) customElements.define(name, element);
}
