// Moves the text to the lines of elements, and follows its cursor.

import { EditorView } from '@codemirror/view';

/** Pause after a movement of the cursor before the tree follows, in ms. */
const CURSOR_DELAY = 150;
/** Margin between the line of a selected element and the edge of the text, in pixels. */
const LINE_MARGIN = 60;

export class TextPane {
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly view: EditorView,
    /** The cursor rests. */
    private readonly followCursor: () => void,
  ) {}

  /** The cursor has moved. */
  moveCursor(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(this.followCursor, CURSOR_DELAY);
  }

  /** True if the text or its search panel has the focus. */
  hasFocus(): boolean {
    const { root } = this.view;
    return root instanceof ShadowRoot && document.activeElement === root.host;
  }

  cursorLine(): number {
    const { doc, selection } = this.view.state;
    return doc.lineAt(selection.main.head).number;
  }

  /** Moves the cursor to a line, without the focus. */
  show(line: number): void {
    const { from } = this.view.state.doc.line(line);
    const effects = EditorView.scrollIntoView(from, { y: 'nearest', yMargin: LINE_MARGIN, x: 'start' });
    this.view.dispatch({ selection: { anchor: from }, effects });
  }

  /** Moves the cursor and the focus to a line. */
  jump(line: number): void {
    const { from } = this.view.state.doc.line(line);
    this.view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: 'center' }) });
    this.view.focus();
  }
}
