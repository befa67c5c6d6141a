"""Five APIs in the styles of Relay, Hasura, Prisma, Vendure and PostGraphile, each with 20 hidden fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.blind.model import Api, Entity, Meaning, Root, Row, World

Inputs = dict[str, tuple[str, Meaning]]


def _entities(text: str) -> tuple[dict[str, Entity], dict[str, str]]:
    """Lines of ``name: shown fields | hidden fields | one=entity many=entity``; ``field$`` has text, others numbers."""
    entities, kinds = {}, {}
    for line in text.strip().splitlines():
        name, shown, hidden, links = (each.strip() for each in line.replace(":", "|", 1).split("|"))
        for each in (*shown.split(), *hidden.split()):
            kinds[each.strip("$")] = "String" if each.endswith("$") else "Int"
        pairs = dict(each.split("=") for each in links.split())
        entities[name] = Entity(
            name=name,
            shown=tuple(shown.replace("$", "").split()),
            hidden=tuple(hidden.replace("$", "").split()),
            links={link: (target.strip("*"), target.endswith("*")) for link, target in pairs.items()},
        )
    return entities, kinds


def _new(style: str, text: str, type_of: Callable[[str], str], *, wrapped: str = "{}") -> Api:
    entities, kinds = _entities(text)
    api = Api(style=style, entities=entities, type_of={each: type_of(each) for each in entities}, kinds=kinds)
    for name, entity in entities.items():
        links = " ".join(
            f"{link}: {f'[{type_of(target)}!]!' if is_list else type_of(target)}"
            for link, (target, is_list) in entity.links.items()
        )
        fields = " ".join(f"{each}: {kinds[each]}" for each in entity.fields)
        above = " implements Node" if style == "relay" else ""
        api.lines.append(f"type {type_of(name)}{above} {{ id: ID! {fields} {links} }}")
        api.hide += [f"{type_of(name)}.{each}" for each in entity.hidden]
    return api


def _rows(api: Api, entity: str, wrap: Callable[[list[Any]], Any]) -> Callable[[World, Sequence[Row]], Any]:
    return lambda world, rows: wrap([api.shown(world, api.entities[entity], row) for row in rows])


def _pascal(name: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))


def _snake(name: str) -> str:
    return "".join(f"_{each.lower()}" if each.isupper() else each for each in name)


def _plural(name: str) -> str:
    return f"{name[:-1]}ies" if name.endswith("y") else f"by{_pascal(name)}es" if name.endswith("s") else f"{name}s"


def _upper(name: str) -> str:
    return _snake(name).upper()


def relay() -> Api:
    api = _new(
        "relay",
        """
        employee: name$ age | salary taxId bonusRate penalties pin$ | department=department reports=employee*
        department: title$ floor | budget headcount costCenter debts code$ | head=employee staff=employee*
        project: label$ stage | margin burnRate estimate overrunHours secret$ | owner=employee members=employee*
        client: company$ region$ | creditLine churnRisk invoiced visits nickname$ | contact=employee projects=project*
        """,
        _pascal,
    )
    api.lines.insert(0, "interface Node { id: ID! } enum OrderDirection { ASC DESC }")
    for name in api.entities:
        api.inputs[f"{_pascal(name)}Filter"] = {}
    for name, entity in api.entities.items():
        type_, filter_ = _pascal(name), f"{_pascal(name)}Filter"
        members: Inputs = {each: (f"[{filter_}!]", (word, filter_)) for each, word in (("and", "all"), ("or", "any"))}
        members["not"] = (filter_, ("not", filter_))
        members["idIn"] = ("[ID!]", ("op", "id", "in"))
        for each in entity.fields:
            kind, pascal = api.kinds[each], _pascal(each)
            members[each] = (kind, ("op", each, "eq"))
            if kind == "Int":
                members |= {f"{each}Gt": (kind, ("op", each, "gt")), f"{each}Lt": (kind, ("op", each, "lt"))}
                members[_plural(each)] = ("[Int!]", ("op", each, "in"))
                members[f"total_{_snake(each)}_over"] = (kind, ("op", each, "over"))
                members |= {f"min{pascal}": (kind, ("op", each, "min")), f"{each}In": ("[Int!]", ("op", each, "in"))}
            else:
                members[f"{each}Contains"] = (kind, ("op", each, "contains"))
                members[f"{each}StartsWith"] = (kind, ("op", each, "startswith"))
        for link, (target, is_list) in entity.links.items():
            below = f"{_pascal(target)}Filter"
            for prefix, quantifier in (("some", "some"), ("no", "none")) if is_list else (("", "some"),):
                member = f"{prefix}{_pascal(link)}" if prefix else link
                members[member] = (below, ("link", link, quantifier, below))
        api.input(filter_, members)
        order = api.enum(f"{type_}OrderField", {_upper(each): ("by", each, False) for each in ("id", *entity.fields)})
        hidden = _upper(entity.hidden[0])
        direction: tuple[str, Meaning] = ("OrderDirection! = ASC", ("none",))
        ordering = api.input(f"{type_}Order", {"field": (f"{order}! = {hidden}", ("none",)), "direction": direction})
        api.lines.append(f"type {type_}Connection {{ edges: [{type_}Edge!]! nodes: [{type_}!]! totalCount: Int! }}")
        api.lines.append(f"type {type_}Edge {{ cursor: String! node: {type_}! }}")
        arguments: Inputs = {
            "first": ("Int", ("first",)),
            "filter": (filter_, ("where", filter_)),
            "orderBy": (ordering, ("ordering", order)),
        }

        def page(rows: list[Any]) -> Any:
            edges = [{"cursor": str(at), "node": row} for at, row in enumerate(rows)]
            return {"edges": edges, "nodes": rows, "totalCount": len(rows)}

        api.roots[f"{name}s"] = Root(
            entity=name,
            arguments=arguments,
            returns=f"{type_}Connection!",
            selection="{ totalCount nodes { id } }",
            answer=_rows(api, name, page),
        )
        by_default: Inputs = {"sort": (f"{ordering} = {{}}", ("ordering", order))}
        api.roots[f"top{type_}s"] = Root(
            entity=name,
            arguments={"first": ("Int", ("first",)), **by_default},
            returns=f"[{type_}!]!",
            selection="{ id }",
            answer=_rows(api, name, list),
        )
        ids: Inputs = {"id": ("ID!", ("op", "id", "eq"))}
        by = entity.hidden[-1]
        unique: Inputs = {by: ("String!", ("op", by, "eq"))}
        for root, taken in ((name, ids), (f"{name}By{_pascal(by)}", unique)):
            api.roots[root] = Root(
                entity=name,
                arguments=taken,
                returns=type_,
                selection="{ id }",
                answer=_rows(api, name, lambda rows: rows[0] if rows else None),
            )
        _writes(api, name, {"where": (filter_, ("where", filter_))}, f"update{type_}s")
    return api


def _writes(api: Api, name: str, chosen: Inputs, root: str) -> None:
    """A mutation that chooses rows and says how many it has changed; nothing is kept."""
    entity = api.entities[name]
    data = api.input(f"{_pascal(root)}Data", {each: (api.kinds[each], ("data",)) for each in entity.fields})
    api.lines.append(f"type {_pascal(root)}Payload {{ affected: Int! rows: [{api.type_of[name]}!]! }}")
    api.roots[root] = Root(
        entity=name,
        arguments={**chosen, "input": (f"{data}!", ("data",))},
        returns=f"{_pascal(root)}Payload",
        selection="{ affected rows { id } }",
        answer=_rows(api, name, lambda rows: {"affected": len(rows), "rows": rows}),
        written=True,
    )


def hasura() -> Api:
    api = _new(
        "hasura",
        """
        patients: full_name$ ward | blood_pressure insurance_no risk relapses diagnosis$ | doctor=doctors visits=visits*
        doctors: last_name$ room | hourly_rate complaints licence_no absences badge$ | chief=doctors patients=patients*
        visits: reason$ length | fee deductible severity refunds note$ | patient=patients drugs=drugs*
        drugs: brand$ strength | unit_cost stock addiction recalls formula$ | maker=doctors given=visits*
        """,
        str,
    )
    api.lines.insert(0, "enum order_by { asc desc asc_nulls_last desc_nulls_last }")
    api.input("Int_comparison_exp", {f"_{each}": ("Int", ("none",)) for each in ("eq", "gt", "lt")})
    api.input("String_comparison_exp", {f"_{each}": ("String", ("none",)) for each in ("eq", "gt", "lt", "like")})
    api.input("ID_comparison_exp", {"_eq": ("ID", ("none",)), "_in": ("[ID!]", ("none",))})
    for name, entity in api.entities.items():
        exp, order = f"{name}_bool_exp", f"{name}_order_by"
        members: Inputs = {
            "_and": (f"[{exp}!]", ("all", exp)),
            "_or": (f"[{exp}!]", ("any", exp)),
            "_not": (exp, ("not", exp)),
            "id": ("ID_comparison_exp", ("ops", "id")),
        }
        members |= {each: (f"{api.kinds[each]}_comparison_exp", ("ops", each)) for each in entity.fields}
        columns: Inputs = {each: ("order_by", ("key", each)) for each in ("id", *entity.fields)}
        for link, (target, is_list) in entity.links.items():
            members[link] = (f"{target}_bool_exp", ("link", link, "some", f"{target}_bool_exp"))
            if is_list:
                below = api.entities[target]
                for function in ("max", "sum"):
                    inner = f"{name}_{link}_{function}_order_by"
                    ints = [each for each in below.fields if api.kinds[each] == "Int"]
                    api.input(inner, {each: ("order_by", ("key", each)) for each in ints})
                    columns[f"{link}_{function}"] = (inner, ("key-sums", link, function))
                    sums = f"{name}_{link}_{function}_bool_exp"
                    api.input(sums, {each: ("Int_comparison_exp", ("sum", link, function, each)) for each in ints})
                    members[f"{link}_{function}"] = (sums, ("where", sums))
            else:
                columns[link] = (f"{target}_order_by", ("key-of", link, f"{target}_order_by"))
        api.input(exp, members)
        api.input(order, columns)
        select = api.enum(f"{name}_select_column", {each: ("by", each, False) for each in ("id", *entity.fields)})
        arguments: Inputs = {
            "where": (exp, ("where", exp)),
            "order_by": (f"[{order}!]", ("columns", order)),
            "distinct_on": (f"[{select}!]", ("distinct", select)),
            "limit": ("Int", ("first",)),
        }
        api.roots[name] = Root(
            entity=name, arguments=arguments, returns=f"[{name}!]!", selection="{ id }", answer=_rows(api, name, list)
        )
        api.lines.append(f"type {name}_aggregate {{ aggregate: {name}_aggregate_fields nodes: [{name}!]! }}")
        ints = [each for each in entity.fields if api.kinds[each] == "Int"]
        sums_of = " ".join(f"{each}: {name}_{each}_fields" for each in ("max", "sum"))
        api.lines.append(f"type {name}_aggregate_fields {{ count: Int! {sums_of} }}")
        for function in ("max", "sum"):
            api.lines.append(f"type {name}_{function}_fields {{ {' '.join(f'{each}: Float' for each in ints)} }}")
            api.hide += [f"{name}_{function}_fields.{each}" for each in ints if each in entity.hidden]

        def summed(rows: list[Any], ints: Sequence[str] = ints) -> Any:
            found: dict[str, Any] = {"count": len(rows)}
            for function, of in (("max", max), ("sum", sum)):
                found[function] = {each: of([row[each] for row in rows]) for each in ints} if rows else None
            return {"aggregate": found, "nodes": rows}

        api.roots[f"{name}_aggregate"] = Root(
            entity=name,
            arguments=arguments,
            returns=f"{name}_aggregate!",
            selection="{ aggregate { count } nodes { id } }",
            answer=_rows(api, name, summed),
        )
        api.roots[f"{name}_by_pk"] = Root(
            entity=name,
            arguments={"id": ("ID!", ("op", "id", "eq"))},
            returns=name,
            selection="{ id }",
            answer=_rows(api, name, lambda rows: rows[0] if rows else None),
        )
        _writes(api, name, {"where": (f"{exp}!", ("where", exp))}, f"update_{name}")
    return api


def prisma() -> Api:
    api = _new(
        "prisma",
        """
        account: email$ level | balance overdraftLimit fraudScore chargebacks iban$ | holder=person transfers=transfer*
        person: firstName$ shoeSize | netWorth rating dependants convictions passport$ | spouse=person accounts=account*
        transfer: memo$ sequence | amount exchangeFee suspicion retries reference$ | source=account approvers=person*
        branch: city$ opened | cashReserve rentPaid auditGrade robberies alarm$ | manager=person clients=account*
        """,
        _pascal,
    )
    api.lines.insert(0, "enum SortOrder { asc desc }")
    ints = dict.fromkeys(("equals", "gt", "lt"), ("Int", ("none",)))
    api.input("IntFilter", {**ints, "in": ("[Int!]", ("none",))})
    api.input("StringFilter", dict.fromkeys(("equals", "contains", "startsWith", "gt", "lt"), ("String", ("none",))))
    for name, entity in api.entities.items():
        type_ = _pascal(name)
        where, order = f"{type_}WhereInput", f"{type_}OrderByWithRelationInput"
        members: Inputs = {
            "AND": (f"[{where}!]", ("all", where)),
            "OR": (f"[{where}!]", ("any", where)),
            "NOT": (where, ("not", where)),
            "id": ("StringFilter", ("ops", "id")),
        }
        members |= {each: (f"{api.kinds[each]}Filter", ("ops", each)) for each in entity.fields}
        columns: Inputs = {each: ("SortOrder", ("key", each)) for each in ("id", *entity.fields)}
        for link, (target, is_list) in entity.links.items():
            below = f"{_pascal(target)}WhereInput"
            if is_list:
                relation = f"{_pascal(target)}ListRelationFilter"
                quantifiers = ("some", "every", "none")
                api.input(relation, dict.fromkeys(quantifiers, (below, ("none",))))
                members[link] = (relation, ("quantified", link, below))
            else:
                members[link] = (below, ("link", link, "some", below))
                columns[link] = (
                    f"{_pascal(target)}OrderByWithRelationInput",
                    ("key-of", link, f"{_pascal(target)}OrderByWithRelationInput"),
                )
        api.input(where, members)
        api.input(order, columns)
        scalar = api.enum(f"{type_}ScalarFieldEnum", {each: ("by", each, False) for each in ("id", *entity.fields)})
        unique = entity.hidden[-1]
        api.input(
            f"{type_}WhereUniqueInput",
            {"id": ("ID", ("op", "id", "eq")), unique: ("String", ("op", unique, "eq"))},
        )
        arguments: Inputs = {
            "where": (where, ("where", where)),
            "orderBy": (f"[{order}!]", ("columns", order)),
            "distinct": (f"[{scalar}!]", ("distinct", scalar)),
            "take": ("Int", ("first",)),
        }
        api.roots[f"findMany{type_}"] = Root(
            entity=name, arguments=arguments, returns=f"[{type_}!]!", selection="{ id }", answer=_rows(api, name, list)
        )
        api.roots[f"findUnique{type_}"] = Root(
            entity=name,
            arguments={"where": (f"{type_}WhereUniqueInput!", ("where", f"{type_}WhereUniqueInput"))},
            returns=type_,
            selection="{ id }",
            answer=_rows(api, name, lambda rows: rows[0] if rows else None),
        )
        api.lines.append(f"type Aggregate{type_} {{ _count: Int! }}")
        api.roots[f"aggregate{type_}"] = Root(
            entity=name,
            arguments=arguments,
            returns=f"Aggregate{type_}!",
            selection="{ _count }",
            answer=_rows(api, name, lambda rows: {"_count": len(rows)}),
        )
        api.lines.append(f"type {type_}Group {{ _count: Int! }}")
        api.roots[f"groupBy{type_}"] = Root(
            entity=name,
            arguments={"by": (f"[{scalar}!]!", ("group", scalar)), "having": (where, ("where", where))},
            returns=f"[{type_}Group!]!",
            selection="{ _count }",
            answer=_rows(api, name, lambda rows: [{"_count": 1} for _ in rows]),
        )
        _writes(api, name, {"where": (where, ("where", where))}, f"updateMany{type_}")
    return api


def vendure() -> Api:
    api = _new(
        "vendure",
        """
        product: slug$ weight | costPrice markup returnRate complaints supplier$ | facet=facet variants=variant*
        variant: sku$ position | purchasePrice stockOnHand scrapRate losses barcode$ | product=product facets=facet*
        facet: title$ rank | clickRate revenue boost penalties keyword$ | parent=facet products=product*
        shopper: handle$ points | lifetimeValue refunds trust disputes voucher$ | favourite=product basket=variant*
        """,
        _pascal,
    )
    api.lines.insert(0, "enum SortOrder { ASC DESC } enum LogicalOperator { AND OR }")
    api.input("NumberRange", {"start": ("Int!", ("none",)), "end": ("Int!", ("none",))})
    api.input("NumberOperators", dict.fromkeys(("eq", "lt", "gt"), ("Int", ("none",))))
    api.input("StringOperators", dict.fromkeys(("eq", "contains", "startsWith"), ("String", ("none",))))
    api.input("IDOperators", {"eq": ("String", ("none",)), "in": ("[String!]", ("none",))})
    kinds = {"Int": "NumberOperators", "String": "StringOperators"}
    names = ("id", *api.entities["product"].fields)
    api.enum("RankBy", {f"BY_{_upper(each)}": ("by", each, True) for each in names})
    for name, entity in api.entities.items():
        type_ = _pascal(name)
        filter_, sort = f"{type_}FilterParameter", f"{type_}SortParameter"
        members: Inputs = {each: (kinds[api.kinds[each]], ("ops", each)) for each in entity.fields}
        members |= {"id": ("IDOperators", ("ops", "id"))}
        members |= {f"_{each}": (f"[{filter_}!]", (word, filter_)) for each, word in (("and", "all"), ("or", "any"))}
        for link, (target, is_list) in entity.links.items():
            if not is_list:
                of = api.entities[target]
                for each in (of.shown[1], of.hidden[0]):  # flattened: productCostPrice
                    value: Inputs = {"value": ("NumberOperators", ("ops", each))}
                    flat = api.input(f"{type_}{_pascal(link)}{_pascal(each)}Filter", value)
                    members[f"{link}{_pascal(each)}"] = (flat, ("link", link, "some", flat))
        api.input(filter_, members)
        api.input(sort, {each: ("SortOrder", ("key", each)) for each in ("id", *entity.fields)})
        options = api.input(
            f"{type_}ListOptions",
            {
                "take": ("Int", ("first",)),
                "sort": (sort, ("columns", sort)),
                "filter": (filter_, ("where", filter_)),
            },
        )
        api.lines.append(f"type {type_}List {{ items: [{type_}!]! totalItems: Int! }}")
        api.roots[f"{name}s"] = Root(
            entity=name,
            arguments={"options": (options, ("options", options))},
            returns=f"{type_}List!",
            selection="{ totalItems items { id } }",
            answer=_rows(api, name, lambda rows: {"items": rows, "totalItems": len(rows)}),
        )
        first, last = entity.hidden[0], entity.hidden[-1]
        taken: Inputs = {
            f"max{_pascal(first)}": ("Int", ("op", first, "lt")),
            f"min{_pascal(first)}": ("Int", ("op", first, "gt")),
            f"{last}Prefix": ("String", ("op", last, "prefix")),
            "id": ("ID", ("op", "id", "eq")),
        }
        api.roots[f"find{type_}"] = Root(
            entity=name, arguments=taken, returns=f"[{type_}!]!", selection="{ id }", answer=_rows(api, name, list)
        )
        _writes(api, name, {"options": (options, ("options", options))}, f"assign{type_}s")
    by: Inputs = {"rankBy": ("RankBy! = BY_COST_PRICE", ("order", "RankBy")), "take": ("Int", ("first",))}
    api.roots["bestProducts"] = Root(
        entity="product",
        arguments=by,
        returns="[Product!]!",
        selection="{ id }",
        answer=_rows(api, "product", list),
    )
    return api


def postgraphile() -> Api:
    api = _new(
        "postgraphile",
        """
        author: penName$ born | royaltyRate advancePaid taxBracket lawsuits alias$ | mentor=author books=book*
        book: isbn$ pages | printRun unitProfit pirateCopies misprints dedication$ | author=author reviews=review*
        review: headline$ stars | payment bias wordQuota edits byline$ | book=book quotes=author*
        shop: street$ shelves | turnover theftLoss leasePrice fines manager$ | partner=shop stock=book*
        """,
        _pascal,
    )
    words = {"Int": ("equalTo", "greaterThan", "lessThan"), "String": ("equalTo", "like", "startsWith")}
    for kind, operators in words.items():
        api.input(f"{kind}Filter", dict.fromkeys(operators, (kind, ("none",))))
    for name, entity in api.entities.items():
        type_, filter_, condition = _pascal(name), f"{_pascal(name)}Filter", f"{_pascal(name)}Condition"
        api.input(condition, {each: (api.kinds.get(each, "ID"), ("op", each, "eq")) for each in ("id", *entity.fields)})
        members: Inputs = {each: (f"{api.kinds[each]}Filter", ("ops", each)) for each in entity.fields}
        members |= {"id": ("StringFilter", ("ops", "id"))}
        members |= {each: (f"[{filter_}!]", (word, filter_)) for each, word in (("and", "all"), ("or", "any"))}
        members["not"] = (filter_, ("not", filter_))
        values: dict[str, Meaning] = {"NATURAL": ("none",)}
        for each in ("id", *entity.fields):
            values |= {f"{_upper(each)}_ASC": ("by", each, False), f"{_upper(each)}_DESC": ("by", each, True)}
        for link, (target, is_list) in entity.links.items():
            below = f"{_pascal(target)}Filter"
            if is_list:
                many = f"{type_}ToMany{_pascal(link)}Filter"
                api.input(many, dict.fromkeys(("some", "every", "none"), (below, ("none",))))
                members[link] = (many, ("quantified", link, below))
                sums = f"{type_}{_pascal(link)}AggregatesFilter"
                for function in ("max", "sum"):
                    inner = f"{type_}{_pascal(link)}{_pascal(function)}Filter"
                    ints = [each for each in api.entities[target].fields if api.kinds[each] == "Int"]
                    api.input(inner, {each: ("IntFilter", ("sum", link, function, each)) for each in ints})
                    api.inputs.setdefault(sums, {})[function] = (inner, ("where", inner))
                members[f"{link}Aggregates"] = (sums, ("where", sums))
            else:
                members[link] = (below, ("link", link, "some", below))
                for each in api.entities[target].fields:
                    values[f"{_upper(link)}__{_upper(each)}_ASC"] = ("by-link", link, each, False)
        api.input(filter_, members)
        order = api.enum(f"{type_}sOrderBy", values)
        default = f"{_upper(entity.hidden[1])}_DESC"
        arguments: Inputs = {
            "condition": (condition, ("where", condition)),
            "filter": (filter_, ("where", filter_)),
            "orderBy": (f"[{order}!]", ("order", order)),
            "first": ("Int", ("first",)),
        }
        api.lines.append(f"type {type_}sConnection {{ nodes: [{type_}!]! totalCount: Int! }}")
        ranked: Inputs = {"orderBy": (f"[{order}!] = [{default}]", ("order", order)), "first": ("Int", ("first",))}
        for root, taken in ((f"all{type_}s", arguments), (f"ranked{type_}s", ranked)):
            api.roots[root] = Root(
                entity=name,
                arguments=taken,
                returns=f"{type_}sConnection",
                selection="{ totalCount nodes { id } }",
                answer=_rows(api, name, lambda rows: {"nodes": rows, "totalCount": len(rows)}),
            )
        for each in ("id", entity.hidden[-1], entity.hidden[0]):
            suffix = "" if each == "id" else f"By{_pascal(each)}"
            api.roots[f"{name}{suffix}"] = Root(
                entity=name,
                arguments={each: (f"{api.kinds.get(each, 'ID')}!", ("op", each, "eq"))},
                returns=type_,
                selection="{ id }",
                answer=_rows(api, name, lambda rows: rows[0] if rows else None),
            )
        _writes(api, name, {"filter": (filter_, ("where", filter_))}, f"update{type_}s")
    return api


STYLES: Mapping[str, Callable[[], Api]] = {
    "relay": relay, "hasura": hasura, "prisma": prisma, "vendure": vendure, "postgraphile": postgraphile,
}  # fmt: skip
