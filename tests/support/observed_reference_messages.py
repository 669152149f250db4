"""Rule 8 of observed-edges.md over the spans of `observed_reference`."""

from __future__ import annotations

from observed_reference import EXITS, fact, smaller, without_detail

PUBLISHES, SUBSCRIBES, DELIVERS = (f"{name}_OBSERVED" for name in ("PUBLISHES", "SUBSCRIBES", "DELIVERS"))
PARENT, LINK, BOUNDARY = range(3)


def named(system, destination):
    """Section 2: system + destination, the anonymous class with only the system known."""
    if destination:
        return f"{system or 'unknown'}/{destination}"
    return f"{system}/(anonymous)" if system else None


class Messages:
    """What is published, consumed and delivered."""

    def __init__(self, spans, horizon):
        self.horizon = horizon
        self.by_id = {}
        for span in spans:
            self.by_id.setdefault((span.trace, span.id), []).append(span)
        self.publishers = [span for span in spans if span.publishes]
        self.consumers = [span for span in spans if span.consumes]
        self.carries = {span: set() for span in self.publishers}
        for span in self.publishers:
            self._carry(span)
        self.unseen = {span: 0 for span in self.consumers}
        self.lost = {span: set() for span in self.consumers}  # ids of messages whose producers were not seen
        self.far = {span: 0 for span in self.consumers}
        self.mates = {span: set() for span in self.consumers}  # polls and process spans linked to one another
        self.ties = {span: self._ties(span) for span in self.consumers}
        self.promised = {span: max(1, len(self.ties[span]) + self.unseen[span]) for span in self.consumers}
        self.messages = {
            span: self.promised[span] if span.says.batch is None else max(0, span.says.batch) for span in self.consumers
        }
        self._together()
        self.orphans = {
            span
            for span in self.consumers
            if (self.unseen[span] or (span.has_parent and not span.seen)) and not self.ties[span]
        }
        self.pushed = {}
        for span in self.publishers:
            by_service = [child for child in span.below if child.crosses and not child.consumes and not child.settles]
            for child in without_detail(by_service):
                self.pushed[child] = span
        self.tied = [(span, producer, by) for span, found in self.ties.items() for producer, by in found.items()]
        self.tied += [(child, producer, PARENT) for child, producer in self.pushed.items()]
        self._topics()

    # -- sent --

    def count(self, span):
        return 1 if span.says.operation == "create" or span.says.batch is None else max(0, span.says.batch)

    def linked(self, link):
        found = self.by_id.get((link["trace"], link["span"]), [])
        return sorted(found, key=lambda one: (not one.publishes, one.kind not in ("SERVER", "CONSUMER")))[:1]

    def _carry(self, span):
        """A send carries create spans of its service; a second publish span of one message, the first."""
        creates = span.says.operation == "create"
        for other in [one for link in span.raw["links"] for one in self.linked(link)]:
            again = span.kind == "CLIENT" and other.kind == "PRODUCER"
            if not creates and other.publishes and other.service == span.service and other is not span:
                if other.says.operation == "create" or again:
                    self.carries[span].add(other)
        if span.local and span.up.publishes:
            if creates and span.up.says.operation != "create":
                self.carries[span.up].add(span)
            elif all(
                None in (mine, theirs) or mine == theirs
                for mine, theirs in ((span.says.topic, span.up.says.topic), (span.says.system, span.up.says.system))
            ):
                self.carries[span].add(span.up)

    def inside(self, span):
        return sum(self.total(inner) for inner in self.carries[span])

    def total(self, span):
        return max(self.count(span), self.inside(span))

    def added(self, span):
        return max(0, self.count(span) - self.inside(span))

    def head(self, span):
        carriers = [one for one in self.publishers if span in self.carries[one]]
        return self.head(carriers[0]) if carriers else span

    # -- consumed --

    def _ties(self, span):
        """The producers of a consuming span, surest first: by parent, by link, and where there is none, the foreign span its context came from."""
        sure, guess = {}, {}
        targets = {(link["trace"], link["span"]) for link in span.raw["links"]}
        for trace, number in sorted(targets):
            if len(trace) != 32 or len(number) != 16 or not int(trace, 16) or not int(number, 16):
                continue
            found = self.linked({"trace": trace, "span": number})
            if not found:
                self.unseen[span] += 1
                self.lost[span].add((trace, number))
                continue
            other = found[0]
            gap = max(span.start, other.start) - min(max(span.start, span.end), max(other.start, other.end))
            if gap > self.horizon:
                self.unseen[span] += 1
                self.lost[span].add((trace, number))
                self.far[span] += 1
            elif other.publishes:
                sure[other] = LINK
            elif other.service != span.service:
                guess[other] = BOUNDARY
            elif other.consumes and other is not span:
                self.mates[span].add(other)
                self.mates[other].add(span)
        if span.seen and (span.foreign or span.self_consume):
            (sure if span.up.publishes else guess)[span.up] = PARENT if span.up.publishes else BOUNDARY
        return sure or guess

    def _together(self):
        """Which of several consuming spans are one handling."""
        replaced = {span.up for span in self.consumers if span.processes and span.local and span.up.processes}
        self.alive = [span for span in self.consumers if span not in replaced]
        self.polls_of = {}
        for span in self.alive:
            if not span.processes:
                continue
            polls = {mate for mate in self.mates[span] if mate.polls}
            if span.local and span.up.polls:
                polls.add(span.up)
            mine = self.lost[span] | set(self.ties[span])
            polls |= {
                poll
                for poll in self.consumers
                if poll.polls and poll.service == span.service and mine & (self.lost[poll] | set(self.ties[poll]))
            }
            self.polls_of[span] = polls
        for span in self.consumers:
            if span.processes and span.local and span.up in replaced and not self.ties[span]:
                self.ties[span] = dict(self.ties[span.up])
        for span, polls in self.polls_of.items():
            if polls and not self.ties[span]:
                self.ties[span] = {producer: by for poll in polls for producer, by in self.ties[poll].items()}
        for span, polls in self.polls_of.items():
            for poll in polls:
                for producer in self.ties[span]:
                    self.ties[poll].pop(producer, None)
        for span in replaced:
            self.ties[span] = {}
        self.merged = {poll for polls in self.polls_of.values() for poll in polls}

    def took(self, span):
        """Messages that a consuming span adds."""
        if span not in self.merged:
            return self.messages[span]
        return max(
            0, self.messages[span] - sum(self.messages[p] for p, polls in self.polls_of.items() if span in polls)
        )

    def handled(self, span):
        return span not in self.consumers or not (span in self.merged or (span.polls and self.messages[span] == 0))

    # -- topics --

    def _topics(self):
        """An end that names no destination takes that of the end it is tied to."""
        self.sent = {}
        for span in self.publishers:
            group = sorted(
                (one for one in self.publishers if self.head(one) is self.head(span)),
                key=lambda one: one is not self.head(span),
            )
            consumers = [
                handler
                for handler, found in self.ties.items()
                if handler.says.topic and any(producer in group for producer in found)
            ]
            consumers.sort(key=lambda one: one.start)
            ends = [span, *group, *consumers]
            self.sent[span] = (
                next((one.says.system for one in ends if one.says.system), None),
                next((one.says.topic for one in ends if one.says.topic), None),
            )
        self.received, self.group = {}, {}
        for span in self.alive:
            mates = self.polls_of.get(span) or {p for p, polls in self.polls_of.items() if span in polls}
            around = [span, *sorted(mates, key=lambda one: one.start)]
            self.group[span] = next((one.says.group for one in around if one.says.group), None)
            ends = [(one.says.system, one.says.topic) for one in around]
            sent = [(self.sent[one], one.start) for one in self.ties[span] if one.publishes]
            ends += [end for end, _ in sorted(sent, key=lambda one: (one[0][1] is None, one[1]))]
            self.received[span] = (
                next((system for system, _ in ends if system), None),
                next((topic for _, topic in ends if topic), None),
            )

    # -- facts --

    def facts(self):
        yield from self._publishes()
        yield from self._subscribes()
        yield from self._handlings()
        yield from self._deliveries()

    def _publishes(self):
        for span in self.publishers:
            system, topic = self.sent[span]
            if named(system, topic) is None:
                continue
            head, n = self.head(span) is span, self.added(span)
            failed = head and span.says.error
            yield fact(
                span.node,
                PUBLISHES,
                named(system, topic),
                span.start,
                kind="topic",
                messages=n,
                client_errors=failed,
                errors=failed,
                cancelled=head and span.says.cancel,
                clock_suspect=head and span.suspect,
                protocols=(span.says.family or system or "unknown", int(head)),
                client=span.latency if head else None,
                source_version=span.says.version,
                instance=span.says.instance,
                causes=((span.entry.name, None), int(head)),
                n=n,
                p=span.says.p,
                failed=n if failed else 0,
                shown=head and (span.trace, span.latency, failed),
            )

    def _subscribes(self):
        for span in self.alive:
            system, topic = self.received[span]
            n, merged, handled = self.took(span), span in self.merged, int(self.handled(span))
            if named(system, topic) is None or (merged and n == 0):
                continue
            failed = span.says.error and not merged
            yield fact(
                span.node,
                SUBSCRIBES,
                named(system, topic),
                span.start,
                kind="topic",
                handled=handled,
                messages=n,
                server_errors=failed,
                errors=failed,
                cancelled=span.says.cancel and not merged,
                clock_suspect=span.suspect and not span.polls,
                protocols=(span.says.family or system or "unknown", handled),
                consumer_groups=self.group[span] and (self.group[span], 1),
                server=None if span.polls else span.latency,
                source_version=span.says.version,
                instance=span.says.instance,
                n=n,
                p=span.says.p,
                shown=handled and (span.trace, None if span.polls else span.latency, failed),
            )

    def at(self, handler, producer, by):
        return handler.start if by == BOUNDARY else producer.start

    def silent(self, handler):
        """A pushed exit tells how its own callee did."""
        return handler in self.pushed and handler.kind in EXITS

    def latency(self, handler):
        return None if handler.polls or handler.kind in EXITS else handler.latency

    def basis(self, handler, by):
        if handler in self.pushed:
            return "server_only" if handler.kind == "SERVER" else "boundary"
        return ("paired", "linked", "boundary")[by]

    def _handlings(self):
        """One handling a consuming span and producing service, at the earliest of its producers."""
        groups = {}
        for handler, producer, by in self.tied:
            if self.handled(handler):
                groups.setdefault((handler, producer.service), []).append((producer, by))
        for (handler, _), found in groups.items():
            producer, by = min(found, key=lambda one: (self.at(handler, *one), one[0].start))
            surest = min(one for _, one in found)
            failed = handler.says.error and not self.silent(handler)
            latency = self.latency(handler)
            yield fact(
                producer.node,
                DELIVERS,
                handler.node,
                self.at(handler, producer, by),
                handled=1,
                server_errors=failed,
                errors=failed,
                cancelled=handler.says.cancel and not self.silent(handler),
                clock_suspect=handler.suspect and not handler.polls and handler.kind not in EXITS,
                basis=(self.basis(handler, surest), 1),
                server=latency,
                target_version=handler.says.version,
                instance=producer.says.instance,
                causes=((producer.entry.name, None if self.silent(handler) else handler.name), 1),
            )

    def _deliveries(self):
        """Messages once a consuming service, queue time and example traces of each tie."""
        groups = {}
        for handler, producer, by in self.tied:
            groups.setdefault((producer, handler.service), []).append((handler, by))
            failed = handler.says.error and not self.silent(handler)
            base = (producer.node, DELIVERS, handler.node, self.at(handler, producer, by))
            if by != BOUNDARY and self.basis(handler, by) != "boundary":
                wait = handler.start - producer.end
                good = wait > 0 and not producer.suspect
                yield fact(*base, queue_unmeasured=not good, queue=wait / 1e6 if good else None)
            for trace in {handler.trace, producer.trace}:
                yield fact(*base, shown=(trace, self.latency(handler), failed))
        inside = {}
        for (producer, service), found in groups.items():
            if producer.publishes and self.head(producer) is not producer:
                key = self.head(producer), service
                inside[key] = inside.get(key, 0) + min(self.total(producer), self._accounted(found))
        for (producer, service), found in groups.items():
            total = self.total(producer) if producer.publishes else 1
            n = min(max(0, total - inside.get((producer, service), 0)), self._accounted(found))
            if producer.publishes and self.head(producer) is not producer:
                n = min(total, self._accounted(found))
            handler, by = min(found, key=lambda one: one[0].start)
            via = named(*self.sent.get(producer, (None, None))) or named(*self.received.get(handler, (None, None)))
            # A span that is no producer tells of what came to it, not of what it sent.
            said = [one.says for one in (producer, handler) if one.publishes or one is handler]
            family = next((one.family for one in said if one.family), None)
            system = next((one.system for one in said if one.system), (via or "unknown").split("/")[0])
            yield fact(
                producer.node,
                DELIVERS,
                handler.node,
                self.at(handler, producer, by),
                messages=n,
                protocols=(family or system, n),
                via=via and (via, n),
                source_version=producer.says.version,
                instance=producer.says.instance,
                n=n,
                p=smaller(producer.says.p, *(one.says.p for one, _ in found)),
            )

    def _accounted(self, found):
        """What the handlings account for: a stated count where all of it is from one producer, else one each."""
        total = 0
        for handler, _ in found:
            alone = sum(1 for one, _, _ in self.tied if one is handler) == 1
            stated = handler in self.ties and handler.says.batch is not None and alone
            total += max(1, self.took(handler)) if stated else 1
        return total
