// Charts that share one x axis: a zoom or a hover in one is seen in all.

/** A range of x, in values. */
export interface Range {
  from: number;
  to: number;
}

/** Who is told of the others' doings. */
export interface Member {
  /** Shows this range; null is all there is. */
  zoomed(range: Range | null): void;
  /** Points at this value of x; null takes the pointer away. */
  pointed?(x: number | null): void;
}

/** The shared state of charts with one x axis. */
export class Group {
  private readonly members = new Set<Member>();
  range: Range | null = null;

  join(member: Member): void {
    this.members.add(member);
  }

  leave(member: Member): void {
    this.members.delete(member);
  }

  zoom(range: Range | null): void {
    this.range = range && range.to > range.from ? range : null;
    for (const member of this.members) member.zoomed(this.range);
  }

  point(x: number | null, by: Member): void {
    for (const member of this.members) if (member !== by) member.pointed?.(x);
  }
}
