CREATE TABLE public.about (
    schema_version integer NOT NULL
);
CREATE TABLE public.alembic_version (
    version_num character varying(32) NOT NULL
);
CREATE TABLE public.events (
    number bigint NOT NULL,
    seq integer NOT NULL,
    event text NOT NULL
);
CREATE TABLE public.ladders (
    event character varying(128) NOT NULL,
    uid character varying(32) NOT NULL,
    kind character varying(16) NOT NULL,
    named boolean NOT NULL,
    plan text NOT NULL,
    started character varying(32) NOT NULL,
    finished character varying(32)
);
CREATE TABLE public.matches (
    number bigint NOT NULL,
    match character varying(64) NOT NULL COLLATE pg_catalog."C",
    event character varying(128) NOT NULL,
    game character varying(64) NOT NULL,
    maxie character varying(64) NOT NULL,
    minnie character varying(64) NOT NULL,
    terms text NOT NULL,
    started character varying(32) NOT NULL,
    record text,
    rated boolean DEFAULT false NOT NULL,
    finished character varying(32),
    counted boolean DEFAULT false NOT NULL,
    server character varying(64) DEFAULT ''::character varying NOT NULL
);
CREATE SEQUENCE public.matches_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.matches_number_seq OWNED BY public.matches.number;
CREATE TABLE public.rating_steps (
    match character varying(64) NOT NULL COLLATE pg_catalog."C",
    seat character varying(8) NOT NULL,
    game character varying(64) NOT NULL,
    bot character varying(64) NOT NULL,
    finished character varying(32) NOT NULL,
    outcome character varying(8) NOT NULL,
    forfeit boolean NOT NULL,
    rating double precision NOT NULL,
    deviation double precision NOT NULL,
    volatility double precision NOT NULL
);
CREATE TABLE public.sessions (
    name character varying(64) NOT NULL,
    hash character varying(64) NOT NULL
);
CREATE TABLE public.tokens (
    name character varying(64) NOT NULL,
    hash character varying(64) NOT NULL,
    role character varying(16) NOT NULL,
    created character varying(32) NOT NULL,
    rotated character varying(32),
    revoked character varying(32)
);
ALTER TABLE ONLY public.matches ALTER COLUMN number SET DEFAULT nextval('public.matches_number_seq'::regclass);
INSERT INTO public.about VALUES
	(1);
INSERT INTO public.alembic_version VALUES
	('0001');
INSERT INTO public.events VALUES
	(1, 1, '[[12673860233000,{"type":"opened"}]]'),
	(1, 2, '[[12673864254693,{"type":"ready","player":"maxie"}]]'),
	(1, 3, '[[12673864642191,{"type":"ready","player":"minnie"}]]'),
	(1, 5, '[[12673866896795,{"type":"turn_left","ply":0}],[12673867326238,{"type":"moved","player":"maxie","ply":0,"move":0,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[0]}}]]'),
	(1, 7, '[[12673868393922,{"type":"turn_left","ply":1}],[12673868867185,{"type":"moved","player":"minnie","ply":1,"move":3,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[3]}}]]'),
	(1, 9, '[[12673869729143,{"type":"turn_left","ply":2}],[12673869863308,{"type":"moved","player":"maxie","ply":2,"move":1,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[1]}}]]'),
	(1, 11, '[[12673870764240,{"type":"turn_left","ply":3}],[12673870914723,{"type":"moved","player":"minnie","ply":3,"move":4,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[4]}}]]'),
	(1, 13, '[[12673871695361,{"type":"turn_left","ply":4}],[12673871819854,{"type":"moved","player":"maxie","ply":4,"move":2,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[2]}}]]'),
	(2, 1, '[[12673875226017,{"type":"opened"}]]'),
	(2, 2, '[[12673877502849,{"type":"ready","player":"maxie"}]]'),
	(2, 3, '[[12673877922549,{"type":"ready","player":"minnie"}]]'),
	(2, 5, '[[12673880047749,{"type":"turn_left","ply":0}],[12673880231828,{"type":"moved","player":"maxie","ply":0,"move":0,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[0]}}]]'),
	(2, 7, '[[12673880932509,{"type":"turn_left","ply":1}],[12673881229731,{"type":"moved","player":"minnie","ply":1,"move":3,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[3]}}]]'),
	(2, 9, '[[12673881985187,{"type":"turn_left","ply":2}],[12673882168474,{"type":"moved","player":"maxie","ply":2,"move":1,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[1]}}]]'),
	(2, 11, '[[12673883143820,{"type":"turn_left","ply":3}],[12673883362494,{"type":"moved","player":"minnie","ply":3,"move":4,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[4]}}]]'),
	(2, 13, '[[12673884311276,{"type":"turn_left","ply":4}],[12673884449685,{"type":"moved","player":"maxie","ply":4,"move":2,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[2]}}]]'),
	(3, 1, '[[12673886771082,{"type":"opened"}]]'),
	(3, 2, '[[12673888723259,{"type":"ready","player":"maxie"}]]'),
	(3, 3, '[[12673889137898,{"type":"ready","player":"minnie"}]]'),
	(3, 5, '[[12673890159942,{"type":"turn_left","ply":0}],[12673890189988,{"type":"moved","player":"maxie","ply":0,"move":0,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[0]}}]]'),
	(3, 7, '[[12673890820732,{"type":"turn_left","ply":1}],[12673891030995,{"type":"moved","player":"minnie","ply":1,"move":4,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[4]}}]]'),
	(3, 9, '[[12673891764972,{"type":"turn_left","ply":2}],[12673891877130,{"type":"moved","player":"maxie","ply":2,"move":8,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[8]}}]]'),
	(3, 11, '[[12673892787347,{"type":"turn_left","ply":3}],[12673892938427,{"type":"moved","player":"minnie","ply":3,"move":1,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[1]}}]]'),
	(3, 13, '[[12673894011585,{"type":"turn_left","ply":4}],[12673894047837,{"type":"moved","player":"maxie","ply":4,"move":7,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[7]}}]]'),
	(3, 15, '[[12673894733563,{"type":"turn_left","ply":5}],[12673894946322,{"type":"moved","player":"minnie","ply":5,"move":6,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[6]}}]]'),
	(3, 17, '[[12673895737178,{"type":"turn_left","ply":6}],[12673895851198,{"type":"moved","player":"maxie","ply":6,"move":2,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[2]}}]]'),
	(3, 19, '[[12673896578068,{"type":"turn_left","ply":7}],[12673896833048,{"type":"moved","player":"minnie","ply":7,"move":5,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[5]}}]]'),
	(3, 21, '[[12673897699332,{"type":"turn_left","ply":8}],[12673897851492,{"type":"moved","player":"maxie","ply":8,"move":3,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[3]}}]]'),
	(4, 1, '[[12673900446434,{"type":"opened"}]]'),
	(4, 2, '[[12673902003753,{"type":"ready","player":"maxie"}]]'),
	(4, 3, '[[12673902416002,{"type":"ready","player":"minnie"}]]'),
	(4, 5, '[[12673903361948,{"type":"turn_left","ply":0}],[12673903391045,{"type":"moved","player":"maxie","ply":0,"move":0,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[0]}}]]'),
	(4, 7, '[[12673904041914,{"type":"turn_left","ply":1}],[12673904422045,{"type":"moved","player":"minnie","ply":1,"move":4,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[4]}}]]'),
	(4, 9, '[[12673905614910,{"type":"turn_left","ply":2}],[12673905813040,{"type":"moved","player":"maxie","ply":2,"move":8,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[8]}}]]'),
	(4, 11, '[[12673906719321,{"type":"turn_left","ply":3}],[12673906835864,{"type":"moved","player":"minnie","ply":3,"move":1,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[1]}}]]'),
	(4, 13, '[[12673907610680,{"type":"turn_left","ply":4}],[12673907862159,{"type":"moved","player":"maxie","ply":4,"move":7,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[7]}}]]'),
	(4, 15, '[[12673908795168,{"type":"turn_left","ply":5}],[12673908950146,{"type":"moved","player":"minnie","ply":5,"move":6,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[6]}}]]'),
	(4, 17, '[[12673909850463,{"type":"turn_left","ply":6}],[12673909992493,{"type":"moved","player":"maxie","ply":6,"move":2,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[2]}}]]'),
	(4, 19, '[[12673910813429,{"type":"turn_left","ply":7}],[12673910929035,{"type":"moved","player":"minnie","ply":7,"move":5,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[5]}}]]'),
	(4, 21, '[[12673911611849,{"type":"turn_left","ply":8}],[12673911824387,{"type":"moved","player":"maxie","ply":8,"move":3,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[3]}}]]'),
	(5, 1, '[[12673915308725,{"type":"opened"}]]'),
	(5, 2, '[[12673919351875,{"type":"ready","player":"maxie"}]]'),
	(5, 3, '[[12673919427433,{"type":"ready","player":"minnie"}]]'),
	(5, 5, '[[12673922459673,{"type":"turn_left","ply":0}],[12673922506536,{"type":"moved","player":"maxie","ply":0,"move":[15,14],"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[[15,14]]}}]]'),
	(5, 7, '[[12673928418920,{"type":"turn_left","ply":1}],[12673928582230,{"type":"moved","player":"minnie","ply":1,"move":[0,4],"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[[0,4]]}}]]'),
	(5, 9, '[[12673929764122,{"type":"turn_left","ply":2}],[12673929888248,{"type":"moved","player":"maxie","ply":2,"move":[15,14],"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[[15,14]]}}]]'),
	(5, 11, '[[12673930695960,{"type":"turn_left","ply":3}],[12673930917018,{"type":"moved","player":"minnie","ply":3,"move":[4,8],"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[[4,8]]}}]]'),
	(5, 13, '[[12673931874432,{"type":"turn_left","ply":4}],[12673932090020,{"type":"moved","player":"maxie","ply":4,"move":[15,14],"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[[15,14]]}}]]'),
	(5, 15, '[[12673936233876,{"type":"turn_left","ply":5}],[12673936392828,{"type":"moved","player":"minnie","ply":5,"move":[8,12],"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[[8,12]]}}]]'),
	(5, 17, '[[12673937803549,{"type":"turn_left","ply":6}],[12673937841542,{"type":"resigned","player":"maxie"}]]');
INSERT INTO public.events VALUES
	(6, 1, '[[12673942776883,{"type":"opened"}]]'),
	(6, 2, '[[12673949258216,{"type":"ready","player":"maxie"}]]'),
	(6, 3, '[[12673949687837,{"type":"ready","player":"minnie"}]]'),
	(6, 5, '[[12673954403035,{"type":"turn_left","ply":0}],[12673954440057,{"type":"moved","player":"maxie","ply":0,"move":8,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[8]}}]]'),
	(6, 7, '[[12673957866352,{"type":"turn_left","ply":1}],[12673958018571,{"type":"moved","player":"minnie","ply":1,"move":7,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[7]}}]]'),
	(6, 9, '[[12673959338707,{"type":"turn_left","ply":2}],[12673959465190,{"type":"moved","player":"maxie","ply":2,"move":6,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[6]}}]]'),
	(7, 1, '[[12673962335411,{"type":"opened"}]]'),
	(7, 2, '[[12673963847026,{"type":"ready","player":"maxie"}]]'),
	(7, 3, '[[12673963905570,{"type":"ready","player":"minnie"}]]'),
	(7, 5, '[[12673965602785,{"type":"turn_left","ply":0}],[12673965634411,{"type":"moved","player":"maxie","ply":0,"move":[15,14],"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[[15,14]]}}]]'),
	(7, 7, '[[12673968509345,{"type":"turn_left","ply":1}],[12673969092494,{"type":"moved","player":"minnie","ply":1,"move":[0,4],"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[[0,4]]}}]]'),
	(7, 9, '[[12673971782337,{"type":"turn_left","ply":2}],[12673972306797,{"type":"moved","player":"maxie","ply":2,"move":[15,14],"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[[15,14]]}}]]'),
	(7, 11, '[[12673976086411,{"type":"turn_left","ply":3}],[12673976370636,{"type":"moved","player":"minnie","ply":3,"move":[4,8],"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[[4,8]]}}]]'),
	(7, 13, '[[12673979637622,{"type":"turn_left","ply":4}],[12673979759332,{"type":"moved","player":"maxie","ply":4,"move":[15,14],"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[[15,14]]}}]]'),
	(6, 11, '[[12673960561239,{"type":"turn_left","ply":3}],[12675992984265,{"type":"left","player":"minnie"}]]'),
	(7, 15, '[[12673981346030,{"type":"turn_left","ply":5}],[12675992984265,{"type":"left","player":"maxie"}]]');
INSERT INTO public.matches VALUES
	(1, 'a42a9cf7c2f849c49e05d110da86644a', 'serve', 'tictactoe', 'anna', 'bert', '{"match":"a42a9cf7c2f849c49e05d110da86644a","event":"serve","game":{"name":"tictactoe","setup":{}},"players":{"maxie":"anna","minnie":"bert"},"time_control":{"base_ms":600000,"increment_ms":1000,"per_move":false},"margin_ms":100,"ready_ms":30000,"grace_ms":30000,"threads":1,"opening":[],"adjudication":null,"rated":true}', '2026-11-22T04:31:16Z', '{"format":"arena-record/1","match":"a42a9cf7c2f849c49e05d110da86644a","event":"serve","game":"tictactoe","setup":{},"players":{"maxie":"anna","minnie":"bert"},"time_control":"600+1","started":"2026-11-22T04:31:16Z","moves":[{"move":0,"ms":0.429,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[0]},"credited_ms":0.0},{"move":3,"ms":0.473,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[3]},"credited_ms":0.0},{"move":1,"ms":0.134,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[1]},"credited_ms":0.0},{"move":4,"ms":0.15,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[4]},"credited_ms":0.0},{"move":2,"ms":0.124,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[2]},"credited_ms":0.0}],"result":{"winner":"maxie","reason":"line","detail":"three in a line"}}', true, '2026-11-22T04:31:16.355Z', true, ''),
	(2, 'd6fdc724fc154cec9d183574a31ed905', 'serve', 'tictactoe', 'cleo', 'anna', '{"match":"d6fdc724fc154cec9d183574a31ed905","event":"serve","game":{"name":"tictactoe","setup":{}},"players":{"maxie":"cleo","minnie":"anna"},"time_control":{"base_ms":600000,"increment_ms":1000,"per_move":false},"margin_ms":100,"ready_ms":30000,"grace_ms":30000,"threads":1,"opening":[],"adjudication":null,"rated":true}', '2026-11-22T04:31:16Z', '{"format":"arena-record/1","match":"d6fdc724fc154cec9d183574a31ed905","event":"serve","game":"tictactoe","setup":{},"players":{"maxie":"cleo","minnie":"anna"},"time_control":"600+1","started":"2026-11-22T04:31:16Z","moves":[{"move":0,"ms":0.184,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[0]},"credited_ms":0.0},{"move":3,"ms":0.297,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[3]},"credited_ms":0.0},{"move":1,"ms":0.183,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[1]},"credited_ms":0.0},{"move":4,"ms":0.219,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[4]},"credited_ms":0.0},{"move":2,"ms":0.138,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[2]},"credited_ms":0.0}],"result":{"winner":"maxie","reason":"line","detail":"three in a line"}}', true, '2026-11-22T04:31:16.367Z', true, ''),
	(3, '17cb55f624214d9e8853d86e233ad188', 'serve', 'tictactoe', 'anna', 'bert', '{"match":"17cb55f624214d9e8853d86e233ad188","event":"serve","game":{"name":"tictactoe","setup":{}},"players":{"maxie":"anna","minnie":"bert"},"time_control":{"base_ms":600000,"increment_ms":1000,"per_move":false},"margin_ms":100,"ready_ms":30000,"grace_ms":30000,"threads":1,"opening":[],"adjudication":null,"rated":true}', '2026-11-22T04:31:16Z', '{"format":"arena-record/1","match":"17cb55f624214d9e8853d86e233ad188","event":"serve","game":"tictactoe","setup":{},"players":{"maxie":"anna","minnie":"bert"},"time_control":"600+1","started":"2026-11-22T04:31:16Z","moves":[{"move":0,"ms":0.03,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[0]},"credited_ms":0.0},{"move":4,"ms":0.21,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[4]},"credited_ms":0.0},{"move":8,"ms":0.112,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[8]},"credited_ms":0.0},{"move":1,"ms":0.151,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[1]},"credited_ms":0.0},{"move":7,"ms":0.036,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[7]},"credited_ms":0.0},{"move":6,"ms":0.213,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[6]},"credited_ms":0.0},{"move":2,"ms":0.114,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[2]},"credited_ms":0.0},{"move":5,"ms":0.255,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[5]},"credited_ms":0.0},{"move":3,"ms":0.152,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[3]},"credited_ms":0.0}],"result":{"winner":null,"reason":"board_full","detail":"the board is full: a draw"}}', true, '2026-11-22T04:31:16.380Z', true, ''),
	(4, 'ded35d79b28145d396ce481ab0c8d427', 'serve', 'tictactoe', 'cleo', 'anna', '{"match":"ded35d79b28145d396ce481ab0c8d427","event":"serve","game":{"name":"tictactoe","setup":{}},"players":{"maxie":"cleo","minnie":"anna"},"time_control":{"base_ms":600000,"increment_ms":1000,"per_move":false},"margin_ms":100,"ready_ms":30000,"grace_ms":30000,"threads":1,"opening":[],"adjudication":null,"rated":true}', '2026-11-22T04:31:16Z', '{"format":"arena-record/1","match":"ded35d79b28145d396ce481ab0c8d427","event":"serve","game":"tictactoe","setup":{},"players":{"maxie":"cleo","minnie":"anna"},"time_control":"600+1","started":"2026-11-22T04:31:16Z","moves":[{"move":0,"ms":0.029,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[0]},"credited_ms":0.0},{"move":4,"ms":0.38,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[4]},"credited_ms":0.0},{"move":8,"ms":0.198,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[8]},"credited_ms":0.0},{"move":1,"ms":0.117,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[1]},"credited_ms":0.0},{"move":7,"ms":0.251,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[7]},"credited_ms":0.0},{"move":6,"ms":0.155,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[6]},"credited_ms":0.0},{"move":2,"ms":0.142,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[2]},"credited_ms":0.0},{"move":5,"ms":0.116,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[5]},"credited_ms":0.0},{"move":3,"ms":0.213,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[3]},"credited_ms":0.0}],"result":{"winner":null,"reason":"board_full","detail":"the board is full: a draw"}}', true, '2026-11-22T04:31:16.394Z', true, ''),
	(5, '0d77377432774a119df58f7e56491930', 'serve', 'riskless', 'bert', 'cleo', '{"match":"0d77377432774a119df58f7e56491930","event":"serve","game":{"name":"riskless","setup":{"map":"m2","territories":["a1","b1","c1","d1","a2","b2","c2","d2","a3","b3","c3","d3","a4","b4","c4","d4"],"neighbours":[[1,4],[0,2,5],[1,3,6],[2,7],[0,5,8],[1,4,6,9],[2,5,7,10],[3,6,11],[4,9,12],[5,8,10,13],[6,9,11,14],[7,10,15],[8,13],[9,12,14],[10,13,15],[11,14]],"territory_cap":10,"armies_to_win":80,"ply_limit":400,"start":[["minnie",2],null,null,null,null,null,null,null,null,null,null,null,null,null,null,["maxie",1]],"places":[[0.0,0.0],[20.0,0.0],[40.0,0.0],[60.0,0.0],[0.0,12.0],[20.0,12.0],[40.0,12.0],[60.0,12.0],[0.0,24.0],[20.0,24.0],[40.0,24.0],[60.0,24.0],[0.0,36.0],[20.0,36.0],[40.0,36.0],[60.0,36.0]]}},"players":{"maxie":"bert","minnie":"cleo"},"time_control":{"base_ms":600000,"increment_ms":1000,"per_move":false},"margin_ms":100,"ready_ms":30000,"grace_ms":30000,"threads":1,"opening":[],"adjudication":null,"rated":true}', '2026-11-22T04:31:16Z', '{"format":"arena-record/1","match":"0d77377432774a119df58f7e56491930","event":"serve","game":"riskless","setup":{"map":"m2","territories":["a1","b1","c1","d1","a2","b2","c2","d2","a3","b3","c3","d3","a4","b4","c4","d4"],"neighbours":[[1,4],[0,2,5],[1,3,6],[2,7],[0,5,8],[1,4,6,9],[2,5,7,10],[3,6,11],[4,9,12],[5,8,10,13],[6,9,11,14],[7,10,15],[8,13],[9,12,14],[10,13,15],[11,14]],"territory_cap":10,"armies_to_win":80,"ply_limit":400,"start":[["minnie",2],null,null,null,null,null,null,null,null,null,null,null,null,null,null,["maxie",1]],"places":[[0.0,0.0],[20.0,0.0],[40.0,0.0],[60.0,0.0],[0.0,12.0],[20.0,12.0],[40.0,12.0],[60.0,12.0],[0.0,24.0],[20.0,24.0],[40.0,24.0],[60.0,24.0],[0.0,36.0],[20.0,36.0],[40.0,36.0],[60.0,36.0]]},"players":{"maxie":"bert","minnie":"cleo"},"time_control":"600+1","started":"2026-11-22T04:31:16Z","moves":[{"move":[15,14],"ms":0.047,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[[15,14]]},"credited_ms":0.0},{"move":[0,4],"ms":0.163,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[[0,4]]},"credited_ms":0.0},{"move":[15,14],"ms":0.124,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[[15,14]]},"credited_ms":0.0},{"move":[4,8],"ms":0.221,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[[4,8]]},"credited_ms":0.0},{"move":[15,14],"ms":0.216,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[[15,14]]},"credited_ms":0.0},{"move":[8,12],"ms":0.159,"thinking":{"depth":1,"value":0.5,"nodes":9,"line":[[8,12]]},"credited_ms":0.0}],"result":{"winner":"minnie","reason":"resignation","detail":"maxie (bert) resigned"}}', true, '2026-11-22T04:31:16.421Z', true, ''),
	(6, '5ba9ac533b0d4702984b46f6f2ace48e', 'serve', 'tictactoe', 'cleo', 'dora', '{"match":"5ba9ac533b0d4702984b46f6f2ace48e","event":"serve","game":{"name":"tictactoe","setup":{}},"players":{"maxie":"cleo","minnie":"dora"},"time_control":{"base_ms":600000,"increment_ms":1000,"per_move":false},"margin_ms":100,"ready_ms":30000,"grace_ms":30000,"threads":1,"opening":[],"adjudication":null,"rated":true}', '2026-11-22T04:31:16Z', NULL, true, NULL, false, ''),
	(7, '52f21ad3053b45c7a0a0e2e6a3df0575', 'serve', 'riskless', 'dora', 'anna', '{"match":"52f21ad3053b45c7a0a0e2e6a3df0575","event":"serve","game":{"name":"riskless","setup":{"map":"m2","territories":["a1","b1","c1","d1","a2","b2","c2","d2","a3","b3","c3","d3","a4","b4","c4","d4"],"neighbours":[[1,4],[0,2,5],[1,3,6],[2,7],[0,5,8],[1,4,6,9],[2,5,7,10],[3,6,11],[4,9,12],[5,8,10,13],[6,9,11,14],[7,10,15],[8,13],[9,12,14],[10,13,15],[11,14]],"territory_cap":10,"armies_to_win":80,"ply_limit":400,"start":[["minnie",2],null,null,null,null,null,null,null,null,null,null,null,null,null,null,["maxie",1]],"places":[[0.0,0.0],[20.0,0.0],[40.0,0.0],[60.0,0.0],[0.0,12.0],[20.0,12.0],[40.0,12.0],[60.0,12.0],[0.0,24.0],[20.0,24.0],[40.0,24.0],[60.0,24.0],[0.0,36.0],[20.0,36.0],[40.0,36.0],[60.0,36.0]]}},"players":{"maxie":"dora","minnie":"anna"},"time_control":{"base_ms":600000,"increment_ms":1000,"per_move":false},"margin_ms":100,"ready_ms":30000,"grace_ms":30000,"threads":1,"opening":[],"adjudication":null,"rated":true}', '2026-11-22T04:31:16Z', NULL, true, NULL, false, '');
INSERT INTO public.rating_steps VALUES
	('a42a9cf7c2f849c49e05d110da86644a', 'maxie', 'tictactoe', 'anna', '2026-11-22T04:31:16.355Z', 'win', false, 1662.2120014703455, 290.23050778223865, 0.05999967537233814),
	('a42a9cf7c2f849c49e05d110da86644a', 'minnie', 'tictactoe', 'bert', '2026-11-22T04:31:16.355Z', 'loss', false, 1337.7879985296545, 290.23050778223865, 0.05999967537233814),
	('d6fdc724fc154cec9d183574a31ed905', 'maxie', 'tictactoe', 'cleo', '2026-11-22T04:31:16.367Z', 'win', false, 1731.724885016587, 286.82361593561626, 0.06000036501152131),
	('d6fdc724fc154cec9d183574a31ed905', 'minnie', 'tictactoe', 'anna', '2026-11-22T04:31:16.367Z', 'loss', false, 1497.6214752684964, 256.1525583802456, 0.06000016114978311),
	('17cb55f624214d9e8853d86e233ad188', 'maxie', 'tictactoe', 'anna', '2026-11-22T04:31:16.380Z', 'draw', false, 1461.759962499823, 227.94484114623862, 0.05999899105160026),
	('17cb55f624214d9e8853d86e233ad188', 'minnie', 'tictactoe', 'bert', '2026-11-22T04:31:16.380Z', 'draw', false, 1384.794548231115, 247.88408919480713, 0.059998494276637726),
	('ded35d79b28145d396ce481ab0c8d427', 'maxie', 'tictactoe', 'cleo', '2026-11-22T04:31:16.394Z', 'draw', false, 1649.9324534696452, 250.7700927459563, 0.059999601122309835),
	('ded35d79b28145d396ce481ab0c8d427', 'minnie', 'tictactoe', 'anna', '2026-11-22T04:31:16.394Z', 'draw', false, 1510.7063231067805, 210.55082072124387, 0.05999820179189608),
	('0d77377432774a119df58f7e56491930', 'maxie', 'riskless', 'bert', '2026-11-22T04:31:16.421Z', 'loss', false, 1337.7879985296545, 290.23050778223865, 0.05999967537233814),
	('0d77377432774a119df58f7e56491930', 'minnie', 'riskless', 'cleo', '2026-11-22T04:31:16.421Z', 'win', false, 1662.2120014703455, 290.23050778223865, 0.05999967537233814);
INSERT INTO public.sessions VALUES
	('anna', '4cb456a375a9c561ff2b7b721b52486d571c85d340dc912c518623eb4a232c99'),
	('bert', 'e8a0a45de7a63cf1b03e2c036e834b365fc736fb2352c78716ac984420211a82'),
	('cleo', '00a0c31b4cbd84d85332cdc231670eed93042f52d6a804b46cc45c971483f96a'),
	('dora', 'aae629f70279f37f236f2df5b94fa2116707a475e8c464564793a886b2b548ec');
INSERT INTO public.tokens VALUES
	('anna', 'c1cb54c7ee743794e427ec0e85bd22916fb41bf708a7b5ac6279e315409e75a6', 'bot', '2026-11-22T04:31:00.638Z', NULL, NULL),
	('bert', '3996e9799909bec6a787f02c3e1ed5f4fdb8085a3d03c302703a3a38003e6e8f', 'bot', '2026-11-22T04:31:05.318Z', NULL, NULL),
	('cleo', '13b22087c34f4c6a5b7b0dac86edfd43fed644ec3cbbcf4ffa80e975a431b597', 'bot', '2026-11-22T04:31:09.182Z', NULL, NULL),
	('dora', 'c7682aebd393dfec7e250adbdf4517266b2ac0a16dac42a2aa8d33b9a9cb966f', 'bot', '2026-11-22T04:31:12.398Z', NULL, NULL);
SELECT pg_catalog.setval('public.matches_number_seq', 7, true);
ALTER TABLE ONLY public.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);
ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (number, seq);
ALTER TABLE ONLY public.ladders
    ADD CONSTRAINT ladders_pkey PRIMARY KEY (event);
ALTER TABLE ONLY public.matches
    ADD CONSTRAINT matches_match_key UNIQUE (match);
ALTER TABLE ONLY public.matches
    ADD CONSTRAINT matches_pkey PRIMARY KEY (number);
ALTER TABLE ONLY public.rating_steps
    ADD CONSTRAINT rating_steps_pkey PRIMARY KEY (match, seat);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_pkey PRIMARY KEY (name);
CREATE INDEX ix_matches_event ON public.matches USING btree (event);
CREATE INDEX ix_matches_finished ON public.matches USING btree (finished, match) WHERE (finished IS NOT NULL);
CREATE INDEX ix_matches_open ON public.matches USING btree (started) WHERE (record IS NULL);
CREATE INDEX ix_matches_rated ON public.matches USING btree (finished, match) WHERE (rated AND (finished IS NOT NULL));
CREATE INDEX ix_matches_uncounted ON public.matches USING btree (finished, match) WHERE (rated AND (finished IS NOT NULL) AND (NOT counted));
CREATE INDEX ix_rating_steps_bot ON public.rating_steps USING btree (game, bot, finished, match);
CREATE INDEX ix_rating_steps_finished ON public.rating_steps USING btree (finished, match);
ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_number_fkey FOREIGN KEY (number) REFERENCES public.matches(number);
ALTER TABLE ONLY public.rating_steps
    ADD CONSTRAINT rating_steps_match_fkey FOREIGN KEY (match) REFERENCES public.matches(match);
