/** What the parts of the widget hand to each other, and what the sidecar and the manifest say (README, contract). */

declare namespace AskBook {
  /** The JSON block that the filter writes into every page. */
  interface Config {
    version: string;
    book: { id: string; title: string; lang: string };
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
    id: string; anchor: string; level: number; title: string; number: string; heading_path: string[];
    start: number; end: number; blocks: Block[];
  }
  interface Chapter { index: number; file: string; href: string; title: string; number: string; part: string; hash: string; sections: Section[] }
  interface Chunk { id: string; chapter: number; section: string; start: number; end: number }
  interface Manifest {
    version: number;
    book: { id: string; title: string; authors: string[]; lang: string; site_url: string; hash: string };
    chapters: Chapter[];
    chunks: Chunk[];
    labels: Record<string, { href: string; text: string; caption: string }>;
  }

  interface Place { tag: string; href: string; anchor: string; chapter_title: string; heading_path: string[] }
  interface Citation extends Place { n: number; quote: string; verified: boolean }
  interface Source extends Place { score: number; text: string }
  interface Notice { code: string; message: string }
  interface Answer {
    id: string;
    status: "answered" | "not_found";
    mode: string;
    answer: string;
    citations: Citation[];
    sources: Source[];
    absent_terms: string[];
    nearest: Source[];
    notices: Notice[];
  }

  /** Something the reader can act on. */
  interface Trouble { code: string; message: string; hint?: string; retry_after?: number }

  interface Events {
    sources?(sources: Source[]): void;
    delta?(text: string): void;
    citation?(citation: Citation): void;
  }

  interface Sidecar { base: string; health: Record<string, any> }

  interface Client {
    ports(id: string): number[];
    isLoopback(host: string): boolean;
    candidates(location: { protocol: string; hostname: string }, config: Config, root: string, token: string): string[][];
    eventReader(receive: (kind: string, data: any) => void): (text: string) => void;
    findSidecar(): Promise<Sidecar | null>;
    manifest(): Promise<Manifest>;
    ask(sidecar: Sidecar | null, question: string, mode: string | null, events: Events, signal: AbortSignal): Promise<Answer>;
    trouble(error: unknown): Trouble;
  }

  interface Highlighter {
    hash(text: string): string;
    deepLink(place: { href: string; tag: string; quote: string }): string;
    quoteOf(manifest: Manifest, tag: string, hash: string): string | null;
    show(quote: string, anchor: string): boolean;
    clear(): void;
    spellings(quote: string): string[];
  }

  interface Turn {
    question: string;
    mode: string | null;
    state: "asking" | "streaming" | "done" | "stopped" | "failed";
    text: string;
    sources: Source[];
    citations: Citation[];
    answer?: Answer;
    trouble?: Trouble;
  }

  interface Opening { focus?: boolean; question?: string }
  interface Panel {
    open(how: Opening): void;
    close(): void;
    reveal(passage: string): Promise<void>;
  }

  interface State {
    open?: boolean;
    turns?: Turn[];
    width?: number;
    scroll?: number;
    token?: string;
    back?: { url: string; y: number } | null;
    arriving?: boolean;
    quote?: string;
  }

  type Inline = { kind: "text" | "code" | "strong" | "em" | "break"; text: string } | { kind: "note"; n: number };
  interface Paragraph { kind: "p" | "quote" | "code" | "item" | "heading"; inline: Inline[] }

  interface Namespace {
    config: Config;
    lang: string;
    locales: Record<string, Locale>;
    root: string;
    load(name: string): Promise<void>;
    recall(): State;
    remember(state: Partial<State>): void;
    client: Client;
    highlight: Highlighter;
    search: any;
    parseAnswer(text: string): Paragraph[];
    createPanel(host: HTMLElement, css: string): Promise<Panel>;
  }
}

interface Window {
  askBook: AskBook.Namespace;
  askBookLocale(name: string, locale: AskBook.Locale): void;
  askBookManifest?(manifest: AskBook.Manifest): void;
  bootstrap?: any;
  MathJax?: any;
}
declare var askBook: AskBook.Namespace;
