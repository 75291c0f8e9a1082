/** What the parts of the widget hand to each other, and what the sidecar and the manifest say (README, contract). */

declare namespace AskBook {
  /** The JSON block that the filter writes into every page. */
  interface Config {
    version: string;
    book: { id: string; title: string; lang: string; authors?: string[] };
    root: string;
    href: string;
    endpoint?: string | null;
    shortcut?: string | null;
    suggestions?: string[];
    texts?: Record<string, string>;
  }

  interface Locale {
    not_found: string;
    stopwords: string;
    abbreviations: string;
    ui?: Record<string, string>;
    answer?: Record<string, string>;
  }

  interface Block { kind: string; start: number; end: number; text: string; context: string; label: string }
  interface Section {
    anchor: string; level: number; title: string; number: string; heading_path: string[];
    start: number; end: number; blocks: Block[];
  }
  interface Chapter { index: number; file: string; href: string; title: string; number: string; part: string; sections: Section[] }
  interface Chunk { chapter: number; start: number; end: number }
  interface Manifest {
    book: { id: string; title: string; authors: string[]; lang: string; site_url: string; hash: string };
    chapters: Chapter[];
    chunks: Chunk[];
    labels: Record<string, { href: string; text: string }>;
  }

  /** The manifest as `book.js` has it: `lua/brief.lua` says how. */
  interface Brief {
    book: Manifest["book"];
    chapters: (Omit<Chapter, "index" | "sections"> & {
      sections: (Pick<Section, "anchor" | "level" | "title" | "number"> & { path?: string[]; blocks: (string | string[])[] })[];
      chunks: number[];
      labels: Record<string, string | string[]>;
    })[];
  }

  interface Place { tag: string; href: string; anchor: string; chapter_title: string; heading_path: string[] }
  interface Citation extends Place { n: number; quote: string; verified: boolean }
  interface Source extends Place { score: number; text: string }
  interface Notice { code: string; message: string }
  /** A stretch of an answer that its reader should doubt, in code points of the Markdown. */
  interface Mark { start: number; end: number; kind: "uncited" | "unsupported" }
  interface Report { id: string; html: string; md: string; pdf: string }
  interface Answer {
    id: string;
    status: "answered" | "not_found";
    mode: string;
    answer: string;
    citations: Citation[];
    sources: Source[];
    absent_terms: string[];
    nearest: Source[];
    claims?: { marks?: Mark[] };
    report?: Report | null;
    notices: Notice[];
  }

  /** Something the reader can act on. */
  interface Trouble { code: string; message: string; hint?: string; status?: number; retry_after?: number }

  interface Events {
    sources?(sources: Source[]): void;
    delta?(text: string): void;
    citation?(citation: Citation): void;
  }

  interface Sidecar { base: string; health: Record<string, any> }

  /** What a question is sent with: `scope` is a page, `history` the turns before it. */
  interface Asked {
    question: string;
    mode?: string;
    scope?: string;
    history?: { question: string; answer: string }[];
  }

  interface Client {
    ports(id: string): number[];
    isLoopback(host: string): boolean;
    candidates(location: { protocol: string; hostname: string }, config: Config, root: string, token: string): string[][];
    eventReader(receive: (kind: string, data: any) => void): (text: string) => void;
    findSidecar(): Promise<Sidecar | null>;
    ask(sidecar: Sidecar, question: Asked, events: Events, signal: AbortSignal): Promise<Answer>;
    feedback(base: string, opinion: { answer_id: string; value: "up" | "down"; reason?: string }): Promise<void>;
    report(base: string, id: string): Promise<string>;
    trouble(error: unknown): Trouble;
  }

  /** `book.js` as it came. */
  type Book = Brief | Manifest | ArrayBuffer;
  type Engine = (asked: Asked) => Promise<Answer>;
  interface Local {
    manifest(): Promise<Manifest>;
    /** `tell` hears how much of the book is read, from 0 to 1. */
    prepare(tell: (share: number) => void): Promise<Engine>;
    ask(asked: Asked, tell: (share: number) => void): Promise<Answer>;
  }

  interface Links {
    hash(text: string): string;
    passage(place: { href: string; tag: string; quote: string }): string;
    question(text: string): string;
    page(url: string): string;
  }

  interface Highlighter {
    show(quote: string, anchor: string): boolean;
    clear(): void;
    spellings(quote: string): string[];
  }

  interface Turn {
    question: string;
    mode: string | null;
    /** The page that is asked alone, and its title. */
    scope: string | null;
    where: string;
    state: "asking" | "streaming" | "done" | "stopped" | "failed";
    /** No word has come for a while. */
    slow?: boolean;
    text: string;
    sources: Source[];
    citations: Citation[];
    /** The sidecar that was asked; none: the browser. */
    base?: string;
    answer?: Answer;
    trouble?: Trouble;
    pdf?: string;
    opinion?: "up" | "down";
  }

  interface How { mode?: string | null; scope?: string | null; where?: string; replaces?: Turn }
  interface Conversation {
    turns: Turn[];
    ask(question: string, how?: How): Promise<void>;
    /** The same question in its place, or another one. */
    again(turn: Turn, how?: How & { question?: string }): void;
    stop(): void;
    clear(): void;
    connect(): Promise<void>;
    save(): void;
    isRunning(): boolean;
    hasModel(): boolean;
    notices(): Notice[];
  }
  interface ConversationView {
    changed(turn: Turn, isNew?: boolean): void;
    /** One line on who answers. */
    status(text: string): void;
    /** What a screen reader hears. */
    say(text: string): void;
  }

  interface Turns {
    draw(turn: Turn): HTMLElement;
    update(turn: Turn): void;
  }
  interface TurnsView {
    conversation: Conversation;
    notes: Notes;
    link: Travel["link"];
    say(text: string): void;
    edit(turn: Turn): void;
  }
  interface Actions {
    say(text: string): void;
    save(): void;
    edit(): void;
    again(): void;
  }

  interface Notes {
    fill(body: HTMLElement, text: string, citations: Citation[], marks: Mark[]): void;
    /** False when there was no card. */
    hide(refocus?: boolean): boolean;
    next(step: number): void;
    anchor(): HTMLElement | undefined;
  }

  interface Travel {
    link(place: Place & { quote: string }, attributes: Record<string, any>, ...children: (Node | string)[]): HTMLAnchorElement;
    reveal(passage: string): Promise<void>;
    unfold(): void;
    goBack(): void;
    clear(): void;
  }
  interface TravelView {
    panel: HTMLElement;
    bar: HTMLElement;
    fit(): void;
    leave(): void;
    hasTurns(): boolean;
    say(text: string): void;
    status(text: string): void;
  }

  interface Layout {
    fit(): void;
    resize(size: number): void;
    isSheet(): boolean;
  }

  /** `about`: words that the reader selected. */
  interface Opening { focus?: boolean; question?: string; about?: string }
  interface Panel {
    open(how: Opening): void;
    close(): void;
    reveal(passage: string): Promise<void>;
  }
  interface Element extends HTMLElement {
    show(how: Opening): Promise<void>;
    close(): void;
  }

  interface State {
    open?: boolean;
    turns?: Turn[];
    /** Questions of conversations that were ended. */
    earlier?: string[];
    width?: number;
    scroll?: number;
    token?: string;
    back?: { url: string; y: number } | null;
    arriving?: boolean;
    quote?: string;
  }

  interface Words { kind: "text" | "code" | "break"; text: string }
  interface Formula { kind: "formula"; text: string; display: boolean }
  /** `doubt`: one begins, of this kind, or ends (""). */
  type Inline = Words | Formula | { kind: "doubt"; text: string } | { kind: "strong" | "em"; inline: Inline[] } | { kind: "note"; n: number };
  interface Paragraph { kind: "p" | "quote" | "code" | "item" | "step" | "heading" | "table"; inline: Inline[]; rows?: Inline[][][] }
  interface Markdown {
    parse(text: string): Paragraph[];
    doubt(text: string, marks: Mark[]): string;
    words(text: string): (Words | Formula)[];
  }

  type Icon = "close" | "send" | "stop" | "fresh" | "back" | "edit" | "again" | "copy" | "link" | "cite" | "up" | "down" | "done";
  type Child = Node | string | null | undefined | false;
  interface Dom {
    t(key: string, values?: Record<string, string | number>): string;
    known(key: string): string;
    h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes?: Record<string, any>, ...children: Child[]): HTMLElementTagNameMap[K];
    icons: Partial<Record<Icon, string>>;
    icon(name: Icon): SVGElement;
    tool(name: Icon, label: string, onclick: (event: MouseEvent) => unknown, attributes?: Record<string, any>): HTMLButtonElement;
    pathOf(place: Place): string;
  }

  interface Namespace {
    config: Config;
    /** Where the widget's files are. */
    here: string;
    lang: string;
    languages: string[];
    locales: Record<string, Locale>;
    root: string;
    load(name: string): Promise<void>;
    /** The words that are selected on the page. */
    selected(): string;
    recall(): State;
    remember(state: Partial<State>): void;
    dom: Dom;
    links: Links;
    client: Client;
    markdown: Markdown;
    highlight: Highlighter;
    local: Local;
    read(book: Book): Manifest;
    /** Takes a part of the search that also runs in a worker. */
    offPage(part: (askBook: Namespace) => void): void;
    search: any;
    quoteOf(manifest: Manifest, tag: string, hash: string): string | null;
    /** The function that takes them away. */
    markElements(ranges: Range[], name: string): () => void;
    typeset(place: HTMLElement, tex: string, display: boolean): void;
    createConversation(view: ConversationView): Conversation;
    createNotes(talk: HTMLElement, link: Travel["link"]): Notes;
    createTurns(view: TurnsView): Turns;
    createTravel(view: TravelView): Travel;
    createLayout(panel: HTMLElement, grip: HTMLElement, head: HTMLElement, close: () => void): Layout;
    drawActions(turn: Turn, actions: Actions): HTMLElement[];
    createPanel(host: HTMLElement): Promise<Panel>;
  }
}

interface Window {
  askBook: AskBook.Namespace;
  askBookLocale(name: string, locale: AskBook.Locale): void;
  askBookManifest?(book: AskBook.Brief): void;
  bootstrap?: any;
  MathJax?: any;
  katex?: any;
}
declare var askBook: AskBook.Namespace;
