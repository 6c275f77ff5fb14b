/** Files that are dragged over the conversation: shown while they hover, handed on when they are let go. */

export class Dropping {
  /** Whether files are held above. */
  over = false;

  constructor(
    private readonly take: (files: File[]) => void,
    private readonly changed: () => void,
  ) {}

  readonly dragged = (event: DragEvent): void => {
    if (!event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    this.set(true);
  };

  readonly left = (event: DragEvent): void => {
    const inside = event.relatedTarget instanceof Node && (event.currentTarget as Node).contains(event.relatedTarget);
    if (!inside) this.set(false);
  };

  readonly dropped = (event: DragEvent): void => {
    this.set(false);
    const files = [...(event.dataTransfer?.files ?? [])];
    if (!files.length) return;
    // Else the page would be left for the file.
    event.preventDefault();
    this.take(files);
  };

  private set(over: boolean): void {
    if (this.over === over) return;
    this.over = over;
    this.changed();
  }
}
