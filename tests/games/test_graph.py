from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.games.graph import (
    VertexNotInGraph,
    build_graph,
    find_reachable_vertices,
    is_connected,
    is_simple,
    is_undirected,
    list_edges,
    list_neighbours,
)

FIGURE = json.loads((Path(__file__).parents[1] / "data" / "graph_figure1.json").read_text())


@st.composite
def graphs(draw: st.DrawFn) -> tuple[tuple[int, ...], ...]:
    """Return a directed graph of up to 7 vertices, which may have loops and double edges."""
    size = draw(st.integers(1, 7))
    vertex = st.integers(0, size - 1)
    return tuple(tuple(draw(st.lists(vertex, max_size=5))) for _ in range(size))


def closure(graph: tuple[tuple[int, ...], ...]) -> list[list[bool]]:
    """Return the vertices that each vertex reaches, by Warshall's algorithm: a slow and simple oracle."""
    vertices = range(len(graph))
    leads = [[v == w or w in graph[v] for w in vertices] for v in vertices]
    for middle in vertices:
        for v in vertices:
            for w in vertices:
                leads[v][w] = leads[v][w] or (leads[v][middle] and leads[middle][w])
    return leads


def test_figure_1() -> None:
    graph = build_graph([tuple(edge) for edge in FIGURE["directed_edges"]], 4)
    assert graph == tuple(map(tuple, FIGURE["adjacency"]))
    assert list_edges(graph) == [tuple(edge) for edge in FIGURE["directed_edges"]]
    assert is_simple(graph)
    assert is_undirected(graph) is FIGURE["is_undirected"] is False
    assert not is_connected(graph), "nothing leads back to vertex 0"
    missing = {(w, v) for v, w in list_edges(graph)} - set(list_edges(graph))
    assert sorted(missing) == [tuple(edge) for edge in FIGURE["missing_reverse"]]
    assert tuple(list_neighbours(FIGURE["undirected_example"], 1)) == (0, 3)


def test_the_example_of_an_edge_sequence() -> None:
    example = FIGURE["from_edge_seq_example"]
    graph = build_graph([tuple(edge) for edge in example["edges"]], example["n"])
    assert graph == tuple(map(tuple, example["result"]))


@given(graphs())
def test_edges_make_the_graph_again(graph: tuple[tuple[int, ...], ...]) -> None:
    assert build_graph(list_edges(graph), len(graph)) == graph


@given(graphs())
def test_reach_and_connectedness_agree_with_the_closure(graph: tuple[tuple[int, ...], ...]) -> None:
    leads = closure(graph)
    for v in range(len(graph)):
        assert find_reachable_vertices(graph, v) == {w for w, there in enumerate(leads[v]) if there}
    assert is_connected(graph) == all(map(all, leads))


@given(graphs())
def test_simple_and_undirected_agree_with_their_definitions(graph: tuple[tuple[int, ...], ...]) -> None:
    edges = list_edges(graph)
    assert is_simple(graph) == (len(edges) == len({(v, w) for v, w in edges if v != w}))
    assert is_undirected(graph) == ({(w, v) for v, w in edges} == set(edges))


@pytest.mark.parametrize("vertex", [-1, 4, 100])
def test_the_error_names_a_missing_vertex(vertex: int) -> None:
    with pytest.raises(
        VertexNotInGraph, match=f"vertex {vertex} is not in the graph: its vertices are 0 to 3"
    ):
        list_neighbours(FIGURE["adjacency"], vertex)
    with pytest.raises(VertexNotInGraph):
        build_graph([(0, vertex)], 4)


def test_the_empty_graph_is_connected() -> None:
    assert is_connected(())
